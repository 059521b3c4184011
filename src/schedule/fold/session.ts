/** What the state knows of agents' conversations. */
import type { AgentEvent } from '../../contract/model.ts';
import type { RuntimeName } from '../../contract/workflow.ts';
import { agentOf } from '../workflow/agent-of.ts';
import type { Node } from '../state.ts';

/** Of the attempt that runs. */
export function noteSession(
  node: Node,
  { session, forgets }: Extract<AgentEvent, { kind: 'started' }>,
): void {
  if (session === undefined) return;
  const { attempt } = node;
  node.session = { id: session, runtime: runtimeOf(node), attempt, ...(forgets && { forgets }) };
}

/** The runtime of the attempt that runs; of the one that comes next where its purpose is given. */
export function runtimeOf(node: Node, purpose = node.started?.purpose ?? 'work'): RuntimeName {
  return node.fallback?.runtime ?? agentOf(node, purpose)?.agent.runtime ?? 'cli';
}

/** The conversation of that attempt, as a field of what comes next; of no use to another runtime. */
export function sessionOf(
  node: Node,
  attempt: number,
  fork: boolean,
): { session?: { id: string; fork: boolean } } {
  const { session } = node;
  if (session?.attempt !== attempt || session.runtime !== runtimeOf(node)) return {};
  return { session: { id: session.id, fork } };
}

/** It was ended in the middle, and can go on right there: its workspace is not to go. */
export function canGoOn(node: Node): boolean {
  const { session, workspace, awaiting } = node;
  return (
    (node.state === 'cancelled' || awaiting?.outcome.kind === 'cancelled') &&
    workspace !== undefined &&
    node.isCollected === true &&
    session?.attempt === node.attempt &&
    session.runtime === runtimeOf(node)
  );
}
