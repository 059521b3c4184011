/** Finds who does an attempt: the task's agent, or the one that its conflicts go to. Nobody for a plain command. */
import type { Agent, Scope } from '../../contract/workflow.ts';
import { isTemplate, templateBound } from './glob-template.ts';
import { effectiveLimits, effectiveScope } from './scope-of.ts';
import { writtenAs, type Node } from '../state.ts';

type Purpose = 'work' | 'resolve';

/** The agent with the scope and the limits that hold for this task. */
export function agentOf(node: Node, purpose: Purpose): { name: string; agent: Agent } | undefined {
  const found = namedAgent(node, purpose);
  if (!found) return undefined;
  const { name } = found;
  const agent = node.isChild ? heldToParent(found.agent, agentOf(node.parent!, 'work')?.agent) : found.agent;
  const { task } = node;
  if (!task.scope && !task.limits) return { name, agent };
  return {
    name,
    agent: { ...agent, scope: effectiveScope(task, agent), limits: effectiveLimits(task, agent) },
  };
}

/** A child has the tool servers that its parent has too, and no more turns. */
function heldToParent(agent: Agent, parent: Agent | undefined): Agent {
  const { mcp = {}, turns, ...rest } = agent;
  const known = Object.entries(mcp).filter(([name, server]) => isSame(server, parent?.mcp?.[name]));
  const most = Math.min(turns ?? Infinity, parent?.turns ?? Infinity);
  return {
    ...rest,
    ...(known.length > 0 && { mcp: Object.fromEntries(known) }),
    ...(most < Infinity && { turns: most }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Also of a plain command, which has no agent. */
export function agentScope(node: Node, purpose: Purpose): Scope {
  return effectiveScope(node.task, namedAgent(node, purpose)?.agent);
}

/**
 * The globs that people wrote for what the attempt may change. What an agent wrote is none of them: of a task that one
 * wrote, they are those of the agent of the workflow that it names, else those of the task that wrote it. A value that
 * is filled into a glob names nothing either, nor does anything for a child.
 */
export function globsOfPeople(node: Node, purpose: Purpose): string[] {
  if (node.isChild) return [];
  const written = writtenAs(node);
  const found = namedAgent(node, purpose);
  const isByAgent = written.parent !== undefined && written.parent.kind !== 'uses';
  if (isByAgent && !found?.isOfWorkflow) return globsOfPeople(written.parent, 'work');
  const { write = [], shared = [], grant } = effectiveScope(isByAgent ? {} : written.task, found?.agent);
  const globs = [...write, ...shared, ...(Array.isArray(grant) ? grant : [])];
  return globs.map((glob) => (isTemplate(glob) ? templateBound(glob) : glob));
}

/** What becomes of changes that do not merge. */
export function onConflict(node: Node): string {
  return node.task['on-conflict'] ?? node.workflow['on-conflict'];
}

interface Found {
  name: string;
  agent: Agent;
  /** One of the workflow's agents, not one that stands in the task itself. */
  isOfWorkflow: boolean;
}

function namedAgent(node: Node, purpose: Purpose): Found | undefined {
  const named = purpose === 'resolve' ? onConflict(node).slice('agent:'.length) : node.task.agent;
  if (named === undefined) return undefined;
  if (typeof named !== 'string') return { name: named.runtime, agent: named, isOfWorkflow: false };
  const agent = node.workflow.agents[named];
  if (!agent) throw new Error(`task ${node.id} names agent ${named}, which is not there`);
  return { name: named, agent, isOfWorkflow: true };
}
