/**
 * When work that succeeded is merged. Pure, as all of decide.
 *
 * What was built on a publication waits for the publisher: the branch then has the publisher's commit first and each
 * diff is a task's own; and files of a task that fails do not get in with the work of another. Where the publisher
 * fails, work on its files cannot be merged: it is kept as a snapshot, and done again once the publisher is.
 *
 *   done ──▶ rests on nothing that is open ──▶ merging
 *        ──▶ a publisher still works ──▶ deferred ──▶ it is done ──▶ merging
 *                                                 └─▶ it is not ──▶ skipped
 */
import type { Decision } from '../../contract/event.ts';
import { endCancelled, isBeingCancelled } from './cancelled.ts';
import type { Node, State } from '../state.ts';
import { lostBasis, openPublishers } from '../workflow/publications.ts';

/** Undefined where there is nothing to merge. */
export function decideMerge(state: State, node: Node): Decision | undefined {
  const waits = awaitPublishers(state, node);
  if (waits) return waits;
  const { id: task } = node;
  const { collected, attempt } = node.ended!;
  if (!collected) return undefined;
  // A conflict may be settled by leaving the files as they are: also then the task's work is to be merged. And what was
  // built on its files as they were is compared with those it leaves, although they may be those it found.
  const isMerged = collected.changedCount > 0 || node.resolving || node.published !== undefined;
  return isMerged ? { type: 'task.merging', task, attempt, commit: collected.commit } : undefined;
}

/** Undefined where all that its work rests on is done. */
export function awaitPublishers(state: State, node: Node): Decision | undefined {
  const { id: task, attempt } = node;
  const lost = lostBasis(state, node.restsOn);
  if (lost !== undefined) {
    if (isBeingCancelled(state, node)) return endCancelled(node);
    return { type: 'task.finished', task, outcome: { kind: 'skipped', because: 'need', message: lost } };
  }
  const until = openPublishers(state, node);
  return until.length > 0 ? { type: 'merge.deferred', task, attempt, until } : undefined;
}
