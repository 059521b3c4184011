/** Pausing a run or one of its tasks from outside its engine, and letting it go on. It drives nothing. */
import { shellWord } from '../base/shell-word.ts';
import { BosunError } from '../contract/errors.ts';
import type { Asked } from '../contract/operations.ts';
import type { Paused, Unpaused } from '../contract/outputs.ts';
import { isOpen, isTaskOver, type RunView, type TaskPause, type TaskView } from '../contract/run.ts';
import { findRun, openJournal, requireOneRun, shownState, type Journal } from '../run/journal.ts';
import { requireTask } from './find-task.ts';
import { untilTaken } from './until-taken.ts';

/** How long an engine may take to react. */
const TAKEN_MS_MAX = 5000;

interface Target {
  run: RunView;
  /** Undefined where all of the run is meant. */
  task: TaskView | undefined;
  /** Not those of a whole run that nobody drives. */
  tasks: readonly TaskView[];
}

type Wanted = 'pause' | 'continue';

/** Resolves once its engine has taken note: nothing is started from then on. */
export async function askToPause(options: Asked<'pause'>): Promise<Paused> {
  await using journal = await openJournal(options.cwd);
  const target = await targetOf(journal, options, runToPause);
  const { run, task } = target;
  await requireAtWork(journal, run, 'pause');
  if (task && isTaskOver(task)) throw hasEnded(run, task);
  const names = { run: run.id, ...(task && { task: task.id }) };
  const before = pauseIn(target);
  if (before) return { ...names, paused: before, isAlready: true, attempts: [] };
  await journal.store.request(run.id, { do: 'pause', by: options.by, ...(task && { task: task.id }) });
  const now = await taken(journal, target, 'pause', options.signal, (view) => pauseIn(view) !== undefined);
  const events = await journal.store.read(run.id, { afterSeq: run.lastSeq, withoutOutput: true });
  const attempts = events.flatMap(({ event }) =>
    event.type === 'attempt.pausing' ? [{ task: event.task, how: event.how, because: event.because }] : [],
  );
  return { ...names, paused: pauseIn(now)!, isAlready: false, attempts };
}

/** Lets it go on where an engine drives it and it is paused. */
export async function askToContinue(options: Asked<'unpause'>): Promise<Unpaused> {
  await using journal = await openJournal(options.cwd);
  const target = await targetOf(journal, options, runToContinue);
  const { run, task } = target;
  const names = { run: run.id, ...(task && { task: task.id }) };
  const state = await shownState(journal, run);
  const isAtWork = state === 'running' || state === 'paused';
  if (!task && !(isAtWork && isPausedByItself(target)))
    return { ...names, isContinued: false, isStillPaused: false };
  if (!isAtWork)
    throw new BosunError(
      'wrong-state',
      `run ${run.id} is ${state}, and a task alone cannot continue; continue all of it with: bosun resume ${run.id}`,
    );
  if (task && !isPausedByItself(target)) throw notByItself(run, task);
  await journal.store.request(run.id, { do: 'unpause', by: options.by, ...(task && { task: task.id }) });
  const now = await taken(journal, target, 'continue', options.signal, (view) => !isPausedByItself(view));
  const pausedWith = now.task?.paused?.with;
  return {
    ...names,
    isContinued: true,
    isStillPaused: task !== undefined && (now.run.paused ?? pausedWith) !== undefined,
    ...(pausedWith !== undefined && { pausedWith }),
  };
}

function notByItself(run: RunView, task: TaskView): BosunError {
  const around = task.paused?.with;
  return new BosunError(
    'wrong-state',
    around !== undefined
      ? `task ${nameOf(task)} is paused with ${around}; continue with: bosun resume ${shellWord(around)} --run ${run.id}`
      : run.paused
        ? `task ${nameOf(task)} is paused with all of run ${run.id}; continue with: bosun resume ${run.id}`
        : `task ${nameOf(task)} of run ${run.id} is not paused: it is ${task.state}`,
  );
}

function runToPause(journal: Journal, id: string | undefined, task: string | undefined): Promise<RunView> {
  const what = task === undefined ? '<run>' : `${shellWord(task)} --run <run>`;
  return requireOneRun(journal, id, `bosun pause ${what}`);
}

/** Where none is named: the one that is paused, or the latest if nobody drives that. */
async function runToContinue(
  journal: Journal,
  id: string | undefined,
  task: string | undefined,
): Promise<RunView> {
  const [latest] = id === undefined && task === undefined ? await journal.store.runs(1) : [];
  if (latest && (await journal.store.driver(latest.id)) === undefined) return findRun(journal, undefined);
  const what = task === undefined ? '<run>' : `${shellWord(task)} --run <run>`;
  return requireOneRun(journal, id, `bosun resume ${what}`, ({ paused }) => paused !== undefined);
}

/** A run is meant where a run and a task have that name. */
async function targetOf(
  journal: Journal,
  { name, run: id }: Asked<'pause'>,
  find: typeof runToPause,
): Promise<Target> {
  const named = name === undefined || id !== undefined ? undefined : await journal.store.run(name);
  const run = named ?? (await find(journal, id, name));
  const isWhole = named !== undefined || name === undefined;
  // Of what nobody drives nothing is paused: a resume need not read thousands of tasks to learn that.
  const isIdle = isWhole && (await journal.store.driver(run.id)) === undefined;
  const tasks = isIdle ? [] : await journal.store.tasks(run.id);
  if (isWhole) return { run, task: undefined, tasks };
  const isTask = tasks.some((task) => task.id === name || task.label === name);
  if (!isTask && id === undefined) await findRun(journal, name); // throws, and says which runs there are
  return { run, task: await requireTask(run.id, tasks, name), tasks };
}

/** `wanted` is what cannot be done otherwise. */
async function requireAtWork(journal: Journal, run: RunView, wanted: Wanted): Promise<void> {
  const state = await shownState(journal, run);
  if (state === 'running' || state === 'paused') return;
  const why = {
    pending: `is queued, so nothing of it is at work; start it with: bosun work`,
    interrupted: `was interrupted, so nothing of it is at work; continue with: bosun resume ${run.id}`,
    cancelling: 'is being cancelled; its work is kept',
    done: `is done; see: bosun report ${run.id}`,
    failed: `has failed; continue with: bosun resume ${run.id}`,
    cancelled: `is cancelled; continue with: bosun resume ${run.id}`,
  }[state];
  const cannot = wanted === 'pause' ? 'be paused' : 'continue';
  throw new BosunError('wrong-state', `run ${run.id} cannot ${cannot}: it ${why}`);
}

/** The pause of the task itself or of one around it; of the run where no task is meant. */
function pauseIn({ run, task }: Target): TaskPause | undefined {
  return task ? task.paused : run.paused;
}

/** Not only with what is around it; of a run, any of its tasks counts too. */
function isPausedByItself({ run, task, tasks }: Target): boolean {
  const isOwn = ({ paused }: TaskView): boolean => paused !== undefined && paused.with === undefined;
  return task ? isOwn(task) : run.paused !== undefined || tasks.some(isOwn);
}

async function taken(
  journal: Journal,
  { run, task }: Target,
  wanted: Wanted,
  signal: AbortSignal | undefined,
  isSo: (now: Target) => boolean,
): Promise<Target> {
  const { store } = journal;
  const look = async (): Promise<Target | undefined> => {
    const now = await findRun(journal, run.id);
    const tasks = await store.tasks(run.id);
    const target = { run: now, task: tasks.find(({ id }) => id === task?.id), tasks };
    const hasTaskEnded = target.task !== undefined && isTaskOver(target.task);
    if (isSo(target) && !hasTaskEnded) return target;
    if (!isOpen(now)) throw new BosunError('wrong-state', `run ${run.id} has just ended: it is ${now.state}`);
    if (hasTaskEnded) throw hasEnded(run, target.task!);
    await requireAtWork(journal, now, wanted);
    return undefined;
  };
  const target = await untilTaken(look, { msMax: TAKEN_MS_MAX, signal });
  if (target) return target;
  const { pid } = (await store.driver(run.id)) ?? { pid: 0 };
  throw new BosunError(
    'busy',
    `run ${run.id} has not reacted yet: its bosun process (${pid}) is busy or stopped (after Ctrl-Z: kill -CONT ${pid}); it will ${wanted} as soon as it can`,
  );
}

function hasEnded(run: RunView, task: TaskView): BosunError {
  return new BosunError(
    'wrong-state',
    `task ${nameOf(task)} of run ${run.id} is ${task.state}: there is nothing to pause or continue`,
  );
}

function nameOf({ id, label }: TaskView): string {
  return label ?? id;
}
