/** Bringing a run's work into the user's branch, and taking it out again: all of it or nothing, one at a time. */
import { existsSync } from 'node:fs';
import { BosunError } from '../contract/errors.ts';
import type { Asked, Reading } from '../contract/operations.ts';
import type { Merged, MergePreview, MergeUndone } from '../contract/outputs.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { loadRun } from '../run/load-run.ts';
import { squashMessage, withCoAuthor } from '../merge/message.ts';
import type { Claim } from '../store/claims.ts';
import { takeLock } from '../store/lock.ts';
import type { Store } from '../store/store.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { requireObjects } from '../system/git/hold-objects.ts';
import { land } from '../merge/land.ts';
import { previewLanding } from '../merge/preview.ts';
import { undoLanding } from '../merge/undo.ts';
import { settleMerge } from '../run/recover-merge.ts';
import { landingRecord } from '../run/record-landing.ts';
import type { LandedFact } from '../contract/landed.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { findRun, openJournal, shownState, type Journal } from '../run/journal.ts';
import { interruptedProblem, unfinishedWords } from './unfinished-run.ts';

const COMMITS_SHOWN_MAX = 200;

export type MergeOptions = Asked<'merge'> & {
  /** Is told what was done about an earlier merge that was cut off. */
  recovered?(text: string): void;
  /** Is given what the workflow's `merge.check` prints. */
  printed?(text: string): void;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
};

export type UndoOptions = Asked<'undoMerge'> & Pick<MergeOptions, 'recovered' | 'fault'>;

/** Lands the run's branch on the current branch: one fast-forward or one merge, or nothing at all. */
export async function mergeRun(options: MergeOptions): Promise<Merged> {
  await using journal = await openJournal(options.cwd);
  const { home } = journal;
  const { run, interrupted } = await findStoppedRun(journal, options.run);
  if (interrupted !== undefined) throw new BosunError('wrong-state', interrupted);
  options.signal?.throwIfAborted();
  using lock = await lockMerges(journal, options);
  void lock;
  using held = new DisposableStack();
  await using given = await givenBy(journal, run);
  const { git, repository, base, titles } = given;
  requireAsShown(options, { head: run.headCommit, onto: repository.head });
  const message = options.squash
    ? squashMessage(run.id, run.name, titles)
    : `Merge ${run.branch}\n\nBosun-Run: ${run.id}\n`;
  const { state: now } = await loadRun(journal.store, run.id);
  let claim: Claim | undefined;
  const landed = await land(git, {
    check: async (commit: string) => {
      if (now.workflow.merge) {
        const { checkMerged } = await import('./merge-check.ts'); // the whole engine, which most merges need not
        await checkMerged(home.top, now, commit, (text) => options.printed?.(text), options);
      }
      held.use((claim = await claimEnded(journal, run)));
    },
    record: ({ kind, head: to, branch }, from) => {
      const on = branch === undefined ? {} : { branch };
      const fact: LandedFact = {
        type: 'run.landed',
        kind,
        from,
        to,
        ...on,
        head: run.headCommit,
        by: options.by,
      };
      return landingRecord(git, journal.store, { run: run.id, fact }, claim!);
    },
    directory: home.landing,
    commit: run.headCommit,
    base,
    message: withCoAuthor(message, await repository.identity()),
    what: `run ${run.id}`,
    ...(options.squash !== undefined && { squash: options.squash }),
    ...(options.signal && { signal: options.signal }),
    ...(options.fault && { fault: options.fault }),
  });
  const unfinished = unfinishedWords(run);
  return {
    ...landed,
    run: run.id,
    commits: titles.length,
    ...(unfinished !== undefined && { unfinished }),
  };
}

/** What a merge would do. It changes nothing of the user's, and needs no lock. */
export async function previewMerge(options: Reading<'previewMerge'>): Promise<MergePreview> {
  await using journal = await openJournal(options.cwd);
  const { run, interrupted } = await findStoppedRun(journal, options.run);
  await using given = await givenBy(journal, run);
  const { git, base, commits } = given;
  options.signal?.throwIfAborted();
  const {
    branch,
    blocked = interrupted,
    ...preview
  } = await previewLanding(git, {
    commit: run.headCommit,
    base,
    ...(options.squash !== undefined && { squash: options.squash }),
  });
  const { state } = await loadRun(journal.store, run.id);
  const check = state.workflow.merge?.check;
  const unfinished = unfinishedWords(run);
  return {
    run: run.id,
    head: run.headCommit,
    ...preview,
    ...(branch !== undefined && { branch }),
    ...(blocked !== undefined && { blocked }),
    ...(unfinished !== undefined && { unfinished }),
    commits: commits.slice(0, COMMITS_SHOWN_MAX),
    commitCount: commits.length,
    ...(check !== undefined && { check }),
  };
}

/** Takes the run's last merge out of the current branch, which has to stand where that left it. */
export async function undoMerge(options: UndoOptions): Promise<MergeUndone> {
  await using journal = await openJournal(options.cwd);
  const { home, store } = journal;
  const { id } = await findRun(journal, options.run);
  using lock = await lockMerges(journal, options);
  void lock;
  const run = await findRun(journal, id); // what was cut off before it was recorded is recorded now
  using claim = await claimEnded(journal, run);
  const { landed } = run;
  if (!landed)
    throw new BosunError(
      'wrong-state',
      `no merge of run ${run.id} can be undone: it was not merged with bosun merge, or that was undone already; see: git log`,
    );
  const { from, to, branch } = landed;
  await using git = await openEngineGit(await inspectRepository(home.top));
  const on = branch === undefined ? {} : { branch };
  const fact: LandedFact = { type: 'run.unlanded', from, to, ...on, by: options.by };
  await undoLanding(git, {
    directory: home.landing,
    landed,
    what: `run ${run.id}`,
    record: landingRecord(git, store, { run: run.id, fact }, claim),
    ...(options.signal && { signal: options.signal }),
    ...(options.fault && { fault: options.fault }),
  });
  return { run: run.id, head: from, was: to, ...on };
}

/** Whoever looked at a preview merges what they saw. */
function requireAsShown(shown: { head?: string; onto?: string }, is: { head: string; onto: string }): void {
  const moved = shown.head !== undefined && shown.head !== is.head;
  if (!moved && (shown.onto === undefined || shown.onto === is.onto)) return;
  throw new BosunError(
    'wrong-state',
    `${moved ? 'the run has changed' : 'your branch has moved'} since you looked; look at the preview again, then merge`,
  );
}

/** `interrupted`: why nothing of it lands yet, where nobody drives a run that has not ended. */
async function findStoppedRun(
  journal: Journal,
  id: string | undefined,
): Promise<{ run: RunView; interrupted?: string }> {
  const run = await findRun(journal, id);
  const state = await shownState(journal, run);
  if (state === 'interrupted') return { run, interrupted: interruptedProblem(run) };
  if (!isOpen({ state })) return { run };
  throw new BosunError(
    'wrong-state',
    state === 'pending'
      ? `run ${run.id} has not begun: it is queued; start it with: bosun work`
      : `run ${run.id} is still ${state}; wait for it, or cancel it: bosun cancel ${run.id}`,
  );
}

/** One merge at a time; what an earlier one left is settled first. */
async function lockMerges(
  { home, store }: Journal,
  { recovered }: Pick<MergeOptions, 'recovered'>,
): Promise<Disposable> {
  using undo = new DisposableStack();
  const lock = takeLock(home.mergeLock);
  if (!lock)
    throw new BosunError(
      'busy',
      `another bosun merge is at work in ${home.top}: wait for it, then merge again`,
    );
  undo.use(lock);
  const settled = await settleMerge(home, store);
  if (settled !== undefined) recovered?.(settled);
  else if (existsSync(home.landing))
    throw new BosunError(
      'busy',
      `an earlier merge was cut off, and its run is at work again, so it can't be recorded yet: wait for that run (bosun wait), then merge again`,
    );
  return undo.move();
}

/** Nobody resumes it from here on, so that what becomes of it can be recorded. */
async function claimEnded({ store }: Journal, { id }: RunView): Promise<Claim> {
  const claim = await store.claim(id);
  if (claim) return claim;
  throw new BosunError(
    'busy',
    `run ${id} is at work again, so nothing was changed: wait for it (bosun wait ${id}), then merge again`,
  );
}

interface Given extends AsyncDisposable {
  git: EngineGit;
  repository: Repository;
  base: string;
  commits: { commit: string; title: string }[];
  titles: string[];
}

/** What a run brings along: its commits, the oldest first, and where they start from. */
async function givenBy({ home, store }: Journal, run: RunView): Promise<Given> {
  const repository = await inspectRepository(home.top);
  await using undo = new AsyncDisposableStack();
  const git = undo.use(await openEngineGit(repository));
  await requireObjects(git, run.baseCommit, `run ${run.id}`);
  const base = await firstBase(git, store, run.baseCommit, repository.head);
  const log = await git.text(['log', '--reverse', '--format=%H %s', `${base}..${run.headCommit}`]);
  const lines = log.split('\n').filter((line) => line !== '');
  const commits = lines.map((line) => {
    const end = line.indexOf(' ');
    return { commit: line.slice(0, end), title: line.slice(end + 1) };
  });
  const titles = commits.map(({ title }) => title).filter((title) => title !== '');
  const all = undo.move();
  return { git, repository, base, commits, titles, [Symbol.asyncDispose]: () => all.disposeAsync() };
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
