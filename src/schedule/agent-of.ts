/** Finds who does an attempt: the task's agent, or the one that its conflicts go to. Nobody for a plain command. */
import type { Agent } from '../contract/workflow.ts';
import { onConflict } from './fold.ts';
import type { Node } from './state.ts';

export function agentOf(node: Node, purpose: 'work' | 'resolve'): { name: string; agent: Agent } | undefined {
  const named = purpose === 'resolve' ? onConflict(node).slice('agent:'.length) : node.task.agent;
  if (named === undefined) return undefined;
  if (typeof named !== 'string') return { name: named.runtime, agent: named };
  const agent = node.workflow.agents[named];
  if (!agent) throw new Error(`task ${node.id} names agent ${named}, which is not there`);
  return { name: named, agent };
}
