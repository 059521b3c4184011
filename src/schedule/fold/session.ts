/** What the state keeps of agents' conversations and of runtimes that failed. It decides nothing. */
import type { EventOf } from '../../contract/event.ts';
import type { AgentErrorKind } from '../../contract/model.ts';
import { fallbacksOf, type RuntimeName } from '../../contract/workflow.ts';
import { agentOf } from '../workflow/agent-of.ts';
import type { Node } from '../state.ts';

/** What another runtime may be able to do better; a crash only where nothing had begun. */
const WORTH_ANOTHER: ReadonlySet<AgentErrorKind> = new Set(['auth', 'rate-limit', 'overloaded', 'crashed']);

export function noteSession(node: Node, attempt: number, session: string | undefined): void {
  if (session === undefined || attempt !== node.attempt) return;
  node.session = { id: session, runtime: runtimeOf(node), attempt };
}

/** The runtime of the attempt that runs or comes next. */
function runtimeOf(node: Node): RuntimeName {
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

/** An agent that remembers goes on where its engine left it, in the same workspace. */
export function goneOnWith(
  node: Node,
  { attempt, collected }: EventOf<'attempt.finished'>,
): { continues?: number; session?: { id: string; fork: boolean } } {
  const found = sessionOf(node, attempt, false);
  return found.session && collected ? { continues: node.started?.continues ?? attempt, ...found } : {};
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

/** Turns to the next runtime, which goes on from what the last one left; false where there is none. */
export function fallBack(node: Node, { attempt, error, collected }: EventOf<'attempt.finished'>): boolean {
  if (error === undefined || !WORTH_ANOTHER.has(error.kind)) return false;
  if (error.kind === 'crashed' && node.hasUsedModel) return false;
  const count = node.fallback?.count ?? 0;
  const next = fallbacksOf(agentOf(node, node.started!.purpose)?.agent)[count];
  if (next === undefined) return false;
  const because = `${runtimeOf(node)} failed (${error.kind}): ${error.message}`;
  node.fallback = { ...next, because, count: count + 1 };
  const { continues, feedback } = node.started!;
  const goesOn = collected ? { continues: continues ?? attempt } : {};
  node.next = { ...goesOn, ...(feedback !== undefined && { feedback }) };
  return true;
}
