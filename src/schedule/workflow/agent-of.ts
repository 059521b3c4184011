/** Finds who does an attempt: the task's agent, or the one that its conflicts go to. Nobody for a plain command. */
import type { Agent, Scope } from '../../contract/workflow.ts';
import { effectiveLimits, effectiveScope } from './scope-of.ts';
import type { Node } from '../state.ts';

type Purpose = 'work' | 'resolve';

/** The agent with the scope and the limits that hold for this task. */
export function agentOf(node: Node, purpose: Purpose): { name: string; agent: Agent } | undefined {
  const found = namedAgent(node, purpose);
  const { task } = node;
  if (!found || (!task.scope && !task.limits)) return found;
  const { name, agent } = found;
  return {
    name,
    agent: { ...agent, scope: effectiveScope(task, agent), limits: effectiveLimits(task, agent) },
  };
}

/** Also of a plain command, which has no agent. */
export function agentScope(node: Node, purpose: Purpose): Scope {
  return effectiveScope(node.task, namedAgent(node, purpose)?.agent);
}

/** What becomes of changes that do not merge. */
export function onConflict(node: Node): string {
  return node.task['on-conflict'] ?? node.workflow['on-conflict'];
}

function namedAgent(node: Node, purpose: Purpose): { name: string; agent: Agent } | undefined {
  const named = purpose === 'resolve' ? onConflict(node).slice('agent:'.length) : node.task.agent;
  if (named === undefined) return undefined;
  if (typeof named !== 'string') return { name: named.runtime, agent: named };
  const agent = node.workflow.agents[named];
  if (!agent) throw new Error(`task ${node.id} names agent ${named}, which is not there`);
  return { name: named, agent };
}
