/** Words to a run from outside its engine: cancel it, speak to its agents. */
import { BosunError } from '../contract/errors.ts';
import type { Asked, OutputOf } from '../contract/operations.ts';
import { isOpen, isTaskOver, type RunView, type TaskView } from '../contract/run.ts';
import { requireTask } from './find-task.ts';
import { findRun, openJournal, requireOneRun, shownState, type Journal } from '../run/journal.ts';
import type { WatchOptions } from './run.ts';
import { untilTaken } from './until-taken.ts';

/** How long the word to cancel waits to be taken up: nobody cancels again where it was slow. */
const CANCELLING_MS_MAX = 5000;

export type CancelOptions = Asked<'cancel'> &
  Pick<WatchOptions, 'hooks'> & {
    /** Is told, once, where the run takes its time to end. */
    waits?(text: string): void;
  };

/** Whoever hooks keep for longer is not waited for. */
const LET_GO_MS_MAX = 5000;
const LOOK_MS = 20;

/** Resolves once the run has ended; rejects where its engine does not even take note. */
export async function cancelRun(options: CancelOptions): Promise<RunView> {
  await using journal = await openJournal(options.cwd);
  const run = await requireOneRun(journal, options.run, 'bosun cancel <run>');
  requireOpen(run);
  if (options.task !== undefined) return await cancelTask(journal, run, options.task, options);
  const { by } = options;
  const mode = options.now ? 'now' : 'graceful';
  if (await isDriven(journal, run)) {
    await journal.store.request(run.id, { do: 'cancel', mode, by });
    const last = await ended(journal, run.id, options);
    // Its engine may have died before it took the request.
    if (!isOpen(last)) {
      await letGo(journal, run.id, options.signal);
      return last;
    }
  }
  // Messages, which are of this file too, need nothing of what drives a run.
  const { endUndriven } = await import('./run.ts');
  try {
    await endUndriven({ ...options, run: run.id });
  } catch (error) {
    // An engine that looks has just begun it, and is told.
    if (run.pending && error instanceof BosunError && error.code === 'busy') return await cancelRun(options);
    throw error;
  }
  return await findRun(journal, run.id);
}

/** Resolves once the task has ended; the rest of the run goes on. What is being merged by then is merged. */
async function cancelTask(
  journal: Journal,
  run: RunView,
  name: string,
  { by, now, signal, waits }: CancelOptions,
): Promise<RunView> {
  if (now)
    throw new BosunError('usage', 'only a whole run can be cancelled at once: leave out --now, or the task');
  await requireDriven(journal, run);
  const found = await requireTask(run.id, await journal.store.tasks(run.id), name);
  const { id, label = id } = found;
  const over = ({ state }: TaskView): BosunError =>
    new BosunError('wrong-state', `task ${label} of run ${run.id} has ended already: it is ${state}`);
  if (isTaskOver(found)) throw over(found);
  await journal.store.request(run.id, { do: 'cancel-task', task: id, by });
  const look = async (): Promise<RunView | undefined> => {
    const task = (await journal.store.tasks(run.id)).find((each) => each.id === id)!;
    const seen = await findRun(journal, run.id);
    if (isTaskOver(task) && task.state !== 'cancelled') throw over(task);
    if (isTaskOver(task)) return seen;
    if (isOpen(seen)) await requireDriven(journal, seen);
    return undefined;
  };
  const soon = await untilTaken(look, { msMax: CANCELLING_MS_MAX, signal });
  if (soon) return soon;
  const { pid } = (await journal.store.driver(run.id)) ?? { pid: 0 };
  const pending = await journal.store.requests(run.id);
  if (pending.some(({ request }) => request.do === 'cancel-task' && request.task === id))
    throw notTaken(run.id, pid, `task ${label} of `);
  waits?.(`task ${label} is being cancelled: waiting for it to end`);
  return (await untilTaken(look, { msMax: Infinity, signal }))!;
}

/** Its engine still writes the report and calls hooks: until it lets go, nobody can resume the run. */
async function letGo({ store }: Journal, run: string, signal?: AbortSignal): Promise<void> {
  const untilMs = performance.now() + LET_GO_MS_MAX;
  while (performance.now() < untilMs && (await store.driver(run))) {
    if (signal?.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export async function isDriven(journal: Journal, run: RunView): Promise<boolean> {
  return !['interrupted', 'pending'].includes(await shownState(journal, run));
}

/** Says something to the agent of a task that is at work. */
export async function steerTask({
  cwd,
  run: id,
  task,
  text,
  by,
}: Asked<'steer'>): Promise<OutputOf<'steer'>> {
  await using journal = await openJournal(cwd);
  const run = await requireOneRun(journal, id, 'bosun steer <task> "<message>" --run <run>');
  await requireDriven(journal, run);
  const tasks = await journal.store.tasks(run.id);
  const running = tasks.filter((view) => view.state === 'running' && view.steerable !== false);
  const names = running.map((view) => view.label ?? view.id).join(', ');
  const others = names === '' ? 'no agent is running now' : `running agents: ${names}`;
  const found = await requireTask(run.id, tasks, task, ` (${others})`);
  if (found.state !== 'running')
    throw new BosunError(
      'wrong-state',
      `task ${task} is ${found.state}: only a running agent can be sent a message; ${others}`,
    );
  if (found.steerable === false)
    throw new BosunError(
      'wrong-state',
      `task ${task} runs a plain command, which reads no messages; ${others}`,
    );
  await journal.store.request(run.id, { do: 'steer', task: found.id, text, by });
  return { run: run.id };
}

function requireOpen(run: RunView): void {
  if (isOpen(run)) return;
  const next = run.state === 'done' ? `see: bosun report ${run.id}` : `continue with: bosun resume ${run.id}`;
  throw new BosunError('wrong-state', `run ${run.id} has ended already: it is ${run.state}; ${next}`);
}

async function requireDriven(journal: Journal, run: RunView): Promise<void> {
  requireOpen(run);
  const state = await shownState(journal, run);
  if (state === 'pending')
    throw new BosunError(
      'wrong-state',
      `run ${run.id} is queued, so no agent of it is at work; start it with: bosun work`,
    );
  if (state !== 'interrupted') return;
  throw new BosunError(
    'wrong-state',
    `run ${run.id} was interrupted: its bosun process is gone; continue with: bosun resume ${run.id}`,
  );
}

async function ended(journal: Journal, id: string, options: CancelOptions): Promise<RunView> {
  const { signal } = options;
  const look = async (): Promise<RunView | undefined> => {
    const run = await findRun(journal, id);
    const isOver = !isOpen(run) || (await shownState(journal, run)) === 'interrupted';
    return isOver ? run : undefined;
  };
  const soon = await untilTaken(look, { msMax: CANCELLING_MS_MAX, signal });
  if (soon) return soon;
  const { pid } = (await journal.store.driver(id)) ?? { pid: 0 };
  const pending = await journal.store.requests(id);
  if (pending.some(({ request }) => request.do === 'cancel')) throw notTaken(id, pid);
  options.waits?.(`run ${id} is being cancelled, and its work is kept: waiting for process ${pid} to end`);
  return (await untilTaken(look, { msMax: Infinity, signal }))!;
}

/** It is stopped (Ctrl-Z, a debugger), or its disk hangs. */
function notTaken(run: string, pid: number, what = ''): BosunError {
  return new BosunError(
    'busy',
    `${what}run ${run} is not cancelled yet: its bosun process (${pid}) does not react. It cancels it as soon as it does (after Ctrl-Z: kill -CONT ${pid}); or end it with kill -9 ${pid}, then type bosun cancel ${run} again`,
  );
}
