/** Where runs stand. Reads the stored views alone: no fold, no git, no process, unless a merge was cut off. */
import { existsSync } from 'node:fs';
import type { Reading } from '../contract/operations.ts';
import type { ShownRun, Status } from '../contract/outputs.ts';
import { shownCounts, type RunState, type RunView, type TaskState, type TaskView } from '../contract/run.ts';
import { runsOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { stopped } from './stopped-task.ts';
import {
  findRun,
  openJournal,
  drivenRuns as atWork,
  shownDriven,
  shownState,
  type Journal,
} from '../run/journal.ts';

const ATTENTION: TaskState[] = ['failed', 'asking', 'running', 'merging', 'delayed'];

export async function statusOf(options: Reading<'status'>): Promise<Status> {
  await using journal = await openJournal(options.cwd);
  const { store, home } = journal;
  const run = await findRun(journal, options.run);
  const limit = options.limit ?? 200;
  const taskCount = Object.values(run.counts).reduce((sum, count) => sum + count, 0);
  const tasks = taskCount <= limit ? await store.tasks(run.id) : await tasksAmongMany(store, run, limit);
  const shown = asShown(run, await shownState(journal, run));
  // loaded only where there is something to do
  const recovered =
    existsSync(home.landing) && (await (await import('../run/recover-merge.ts')).recoverMerge(home, store));
  const rest = { taskCount, ...(recovered && { recovered }) };
  return { run: shown, tasks: shown.state === 'interrupted' ? tasks.map(stopped) : tasks, ...rest };
}

export async function asShownRun(journal: Journal, run: RunView): Promise<ShownRun> {
  return asShown(run, await shownState(journal, run));
}

/** As people see it: one that waits for an answer does not run, and nothing runs where no engine does. */
function asShown(run: RunView, state: ShownRun['state']): ShownRun {
  const counts = state === 'interrupted' ? stoppedCounts(run.counts) : shownCounts(run);
  return { ...run, state, counts };
}

/** Where there are none that need attention, thousands are not looked through to find that out. */
async function tasksAmongMany(store: Store, run: RunView, limit: number): Promise<TaskView[]> {
  const states = ATTENTION.filter((state) => run.counts[state]);
  return states.length === 0 ? [] : store.tasks(run.id, { states, limit });
}

function stoppedCounts({
  running = 0,
  merging = 0,
  ready = 0,
  ...others
}: RunView['counts']): RunView['counts'] {
  const all = running + merging + ready;
  return all === 0 ? others : { ready: all, ...others };
}

/** Of those that wait in the queue; `history` has all. */
const QUEUED_MAX = 20;

/** All that is at work, what needs a person first; with `queued` then what waits for an engine, the oldest first. */
export async function runsAtWork(options: Reading<'atWork'>): Promise<ShownRun[]> {
  await using journal = await openJournal(options.cwd);
  const runs = await atWork(journal);
  const shown = runs.map((run) => asShown(run, shownDriven(run)));
  const sorted = shown.toSorted((a, b) => Math.sign(b.questions.length) - Math.sign(a.questions.length));
  if (options.queued !== true) return sorted;
  const isDriven = new Set(runs.map(({ id }) => id));
  const waiting = await journal.store.pendingRuns(QUEUED_MAX);
  const queued = waiting.filter(({ id }) => !isDriven.has(id)); // an engine may just have taken it
  return [...sorted, ...queued.map((run) => asShown(run, 'pending'))];
}

const HISTORY_MAX = 50;
const HISTORY_SINCE_MAX = 1000;
const PAGE_RUNS_MAX = 200;
/** What a journal says of one that is shown so; an ended one is what its journal says. */
const OPEN: readonly RunState[] = ['running', 'cancelling'];

/** The newest first; with `before` those that are older than that run. */
export async function history(options: Reading<'history'>): Promise<ShownRun[]> {
  await using journal = await openJournal(options.cwd);
  const { before, limit = options.since === undefined ? HISTORY_MAX : HISTORY_SINCE_MAX } = options;
  if (before !== undefined) await findRun(journal, before);
  const found: ShownRun[] = [];
  for await (const run of shownRuns(journal, { ...options, limit })) {
    found.push(run);
    if (found.length === limit) break;
  }
  return await withMerged(journal, found);
}

async function withMerged({ home }: Journal, runs: ShownRun[]): Promise<ShownRun[]> {
  // loaded only where it is needed, as below
  const ended = runs.filter(
    ({ state, headCommit, baseCommit }) => isEnded(state) && headCommit !== baseCommit,
  );
  if (ended.length === 0) return runs;
  const merged = await (await import('./merged-runs.ts')).mergedOf(home.top, ended);
  const isAsked = new Set(ended);
  return runs.map((run) => (isAsked.has(run) ? { ...run, isMerged: merged.has(run.id) } : run));
}

function isEnded(state: ShownRun['state']): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/** Those that are asked for, the newest first; `limit` says how many are read at a time. */
export async function* shownRuns(
  journal: Journal,
  { before, since, state, limit, signal }: Omit<Reading<'history'>, 'cwd'> & { limit: number },
): AsyncGenerator<ShownRun> {
  const wanted = state && new Set<string>(state);
  const ended = (['done', 'failed', 'cancelled'] as const).filter((one) => wanted?.has(one));
  const isOpenWanted = wanted && wanted.size > ended.length;
  // loaded only where it is needed
  const sinceMs = since === undefined ? 0 : (await import('./totals.ts')).parseSince(since, Date.now());
  const runs = runsOf(journal.store, {
    sinceMs,
    page: Math.min(limit, PAGE_RUNS_MAX),
    ...(before !== undefined && { before }),
    ...(wanted && { states: isOpenWanted ? [...ended, ...OPEN] : ended }),
  });
  for await (const run of runs) {
    signal?.throwIfAborted();
    const shown = asShown(run, await shownState(journal, run));
    if (!wanted || wanted.has(shown.state)) yield shown;
  }
}
