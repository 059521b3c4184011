/** What the state knows of agents' conversations. */
import type { RuntimeName } from '../../contract/workflow.ts';
import { agentOf } from '../workflow/agent-of.ts';
import type { Node } from '../state.ts';

export function noteSession(node: Node, attempt: number, session: string | undefined): void {
  if (session === undefined || attempt !== node.attempt) return;
  node.session = { id: session, runtime: runtimeOf(node), attempt };
}

/** The runtime of the attempt that runs or comes next. */
export function runtimeOf(node: Node): RuntimeName {
  return node.fallback?.runtime ?? agentOf(node, node.started?.purpose ?? 'work')?.agent.runtime ?? 'cli';
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
  const { session, workspace } = node;
  return (
    node.state === 'cancelled' &&
    workspace !== undefined &&
    node.isCollected === true &&
    session?.attempt === node.attempt &&
    session.runtime === runtimeOf(node)
  );
}
