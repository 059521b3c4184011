/**
 * Takes a landing back: the branch goes to where it was before, as long as it stands exactly where the landing left it.
 * Like a landing it is all or nothing, and whatever stands in the way is found before a file is touched.
 */
import { BosunError } from '../contract/errors.ts';
import type { LandedAs } from '../contract/landed.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { refuseUnfinished } from '../system/git/unfinished.ts';
import { openWorkTree } from '../system/git/work-tree.ts';
import { refuseLoss, refuseUncommitted, undisturbed } from './land.ts';
import { moveBranchTo, type LandingRecord } from './landing.ts';

export interface UndoRequest {
  /** `Home.landing` */
  directory: string;
  landed: LandedAs;
  /** What was merged, in words. */
  what: string;
  record?: LandingRecord;
  signal?: AbortSignal;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
}

/** Whoever calls it holds the lock on merges. */
export async function undoLanding(engine: EngineGit, request: UndoRequest): Promise<void> {
  const { directory, landed, what, record, signal, fault } = request;
  const repository = await inspectRepository(engine.repository.top);
  const { top, head, branch } = repository;
  const { from, to } = landed;
  refuseUnfinished(repository);
  if (branch !== landed.branch)
    throw new BosunError(
      'wrong-state',
      `${what} was merged into ${landed.branch ?? 'a detached HEAD'}, and you are on ${branch ?? 'a detached HEAD'}: type git switch ${landed.branch ?? '--detach ' + to}, then undo it again`,
    );
  if (head !== to)
    throw new BosunError(
      'wrong-state',
      `${branch ?? 'HEAD'} has moved since ${what} was merged (${short(to)}, now ${short(head)}), so the merge is not undone: take its changes out with ${revertOf(landed)}`,
    );
  await using tree = await openWorkTree(repository);
  await refuseUncommitted(tree, top, { isUndo: true });
  await refuseLoss(engine, tree, top, head, from);
  signal?.throwIfAborted();
  const undoing = `the undoing of ${what}`;
  await undisturbed(() =>
    moveBranchTo({ directory, engine, repository, tree, to: from, what: undoing, record, fault }),
  );
}

function revertOf({ kind, from, to }: LandedAs): string {
  if (kind === 'fast-forward') return `git revert ${short(from)}..${short(to)}`;
  return kind === 'merged' ? `git revert -m 1 ${short(to)}` : `git revert ${short(to)}`;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
