/** Bringing a run's work into the user's branch: all of it or nothing, one merge at a time. */
import { squashedRef } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Merged } from '../contract/outputs.ts';
import { isOpen } from '../contract/run.ts';
import { loadRun } from '../run/load-run.ts';
import { squashMessage, withCoAuthor } from '../merge/message.ts';
import { takeLock } from '../store/lock.ts';
import type { Store } from '../store/store.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { requireObjects } from '../system/git/hold-objects.ts';
import { land } from '../merge/land.ts';
import { recoverLanding } from '../merge/landing.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';

export type MergeOptions = Reading<'merge'> & {
  /** Is told what was done about an earlier merge that was cut off. */
  recovered?(text: string): void;
  /** Is given what the workflow's `merge.check` prints. */
  printed?(text: string): void;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
};

/** Lands the run's branch on the current branch: one fast-forward or one merge, or nothing at all. */
export async function mergeRun(options: MergeOptions): Promise<Merged> {
  await using journal = await openJournal(options.cwd);
  const { home } = journal;
  const run = await findRun(journal, options.run);
  const state = await shownState(journal, run);
  if (isOpen({ state })) {
    throw new BosunError(
      'wrong-state',
      state === 'pending'
        ? `run ${run.id} has not begun: it is queued; start it with: bosun work`
        : `run ${run.id} is still ${state}; wait for it, or cancel it: bosun cancel ${run.id}`,
    );
  }
  options.signal?.throwIfAborted();
  using lock = takeLock(home.mergeLock);
  if (!lock)
    throw new BosunError(
      'busy',
      `another bosun merge is at work in ${home.top}: wait for it, then merge again`,
    );
  const recovered = await recoverLanding(home.landing, home.top);
  if (recovered !== undefined) options.recovered?.(recovered);
  const repository = await inspectRepository(home.top);
  await using git = await openEngineGit(repository);
  await requireObjects(git, run.baseCommit, `run ${run.id}`);
  const base = await firstBase(git, journal.store, run.baseCommit, repository.head);
  const log = await git.text(['log', '--reverse', '--format=%s', `${base}..${run.headCommit}`]);
  const titles = log.split('\n').filter((line) => line !== '');
  const message = options.squash
    ? squashMessage(run.id, run.name, titles)
    : `Merge ${run.branch}\n\nBosun-Run: ${run.id}\n`;
  const { state: now } = await loadRun(journal.store, run.id);
  const landed = await land(git, {
    ...(now.workflow.merge && {
      check: async (commit: string) => {
        const { checkMerged } = await import('./merge-check.ts'); // the whole engine, which most merges need not
        await checkMerged(home.top, now, commit, (text) => options.printed?.(text), options);
      },
    }),
    directory: home.landing,
    commit: run.headCommit,
    base,
    message: withCoAuthor(message, await repository.identity()),
    what: `run ${run.id}`,
    ...(options.squash !== undefined && { squash: options.squash }),
    ...(options.signal && { signal: options.signal }),
    ...(options.fault && { fault: options.fault }),
  });
  // no branch of the user's has the run's own commits then
  if (landed.kind === 'squashed') await git.updateRef(squashedRef(run.id, run.headCommit), landed.head);
  return { ...landed, run: run.id, commits: titles.length };
}

const RUNS_DEEP_MAX = 100;

/** A run may stand on another one's work, that one on a third's: where the first of those starts that are not landed. */
async function firstBase(git: EngineGit, store: Store, from: string, head: string): Promise<string> {
  let base = from;
  for (let deep = 0; deep < RUNS_DEEP_MAX && !(await git.isAncestor(base, head)); deep++) {
    const trailer = '--format=%(trailers:key=Bosun-Run,valueonly)';
    const id = await git.text(['log', '--max-count=1', trailer, base]);
    const below = id === '' ? undefined : await store.run(id);
    if (!below || below.baseCommit === base) return base;
    base = below.baseCommit;
  }
  return base;
}
