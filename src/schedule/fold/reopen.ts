/** Opens tasks of a run again, as it was decided which. */
import type { EventOf, Reopened } from '../../contract/event.ts';
import { hasEnded, isAwaiting, isGroup, nodeOf, type Node, type State } from '../state.ts';
import { keepOutput } from './attempts.ts';
import { move, push } from './moves.ts';
import { countUnmet } from './publications.ts';
import { forgetFailedSummaries } from './summaries.ts';

/** A run that is gone on with has not ended, and is no longer being cancelled. */
export function reopen(state: State, { tasks }: EventOf<'run.reopened'>): void {
  delete state.goesOn;
  state.state = 'running';
  delete state.endedAtMs;
  delete state.cancelling;
  delete state.because;
  delete state.short;
  for (const node of state.nodes.values()) {
    delete node.stopping;
    delete node.pausing;
  }
  forgetFailedSummaries(state);
  const reopened = new Set(tasks.map((each) => open(state, nodeOf(state, each.task), each)));
  for (const node of state.nodes.values()) {
    if (node.state !== 'waiting') continue;
    node.unmet = countUnmet(state, node);
    if (reopened.has(node) && node.unmet === 0) push(state, node);
  }
  for (const node of reopened) if (node.state === 'expanded' && node.open === 0) push(state, node);
}

function open(state: State, node: Node, { onTop, continues, session, feedback }: Reopened): Node {
  if (onTop) node.onTop = true;
  const isCut = node.awaiting?.outcome.kind === 'cancelled';
  const wasOpen = !hasEnded(node);
  delete node.isUnwanted;
  // It is wanted again before anything was done about that.
  if (wasOpen && !isCut) return node;
  move(state, node, isGroup(node) || isAwaiting(node) ? 'expanded' : 'waiting');
  node.failures = 0;
  node.rounds = 0;
  node.results = node.own ?? [];
  delete node.replans;
  delete node.isReplanning;
  node.restsOn = [];
  for (const key of [
    'ended', 'merged', 'answer', 'resolving', 'conflicted', 'next', 'stopping', 'halted', 'admitted', 'outcome',
    'output', 'outputRef', 'endedAtMs', 'lastOutcome', 'fallback', 'lost', 'isDue', 'isCalled', 'recaps',
  ] as const) delete node[key]; // prettier-ignore
  if (isAwaiting(node)) keepOutput(node, node.awaiting!);
  else delete node.awaiting;
  delete node.judge; // another one is asked
  if (node.candidate !== undefined) {
    delete node.parent!.judge;
    if (node.parent!.picked?.candidate === node.id) delete node.parent!.picked;
  }
  if (continues !== undefined || feedback !== undefined)
    node.next = {
      ...(continues !== undefined && { continues }),
      ...(session && { session }),
      ...(feedback !== undefined && { feedback }),
    };
  if (wasOpen) return node;
  state.open++;
  if (node.parent) node.parent.open++;
  return node;
}
