/** The tasks of a run, some at a time, and what was tried for one of them. Reads views and the task's own events: no fold, no git. */
import type { Event } from '../contract/event.ts';
import type { OutputOf, Reading } from '../contract/operations.ts';
import type { ShownAttempt } from '../contract/task-outputs.ts';
import type { TaskState, TaskView } from '../contract/run.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';
import { requireTask } from './find-task.ts';
import { stopped } from './stopped-task.ts';

const TASKS_MAX = 200;
const TYPES = ['attempt.started', 'attempt.finished'];

export async function tasksOf(options: Reading<'tasks'>): Promise<TaskView[]> {
  await using journal = await openJournal(options.cwd);
  const { store } = journal;
  const { state, after, limit = TASKS_MAX } = options;
  const run = await findRun(journal, options.run);
  if (after !== undefined) await requireTask(run.id, await store.tasks(run.id), after);
  const isStopped = (await shownState(journal, run)) === 'interrupted';
  const states = state && (isStopped ? asStored(state as TaskState[]) : (state as TaskState[]));
  const tasks = await store.tasks(run.id, {
    limit,
    ...(states && { states }),
    ...(after !== undefined && { after }),
  });
  return isStopped ? tasks.map(stopped) : tasks;
}

/** Of a run that nobody drives: what its journal says of those that are shown so. */
function asStored(states: readonly TaskState[]): TaskState[] {
  const others = states.filter((state) => state !== 'running' && state !== 'merging');
  return others.includes('ready') ? [...others, 'running', 'merging'] : others;
}

export async function attemptsOf(options: Reading<'attempts'>): Promise<OutputOf<'attempts'>> {
  await using journal = await openJournal(options.cwd);
  const { store } = journal;
  const run = await findRun(journal, options.run);
  const { id: task } = await requireTask(run.id, await store.tasks(run.id), options.task);
  const isDriven = (await store.driver(run.id)) !== undefined;
  const attempts = new Map<number, ShownAttempt>();
  for (const { event, atMs } of await store.read(run.id, { task, types: TYPES, valueBytesMax: 0 })) {
    if (event.type === 'attempt.started') {
      const { attempt, purpose, fallback } = event;
      const begun = { attempt, purpose, startedAtMs: atMs, state: isDriven ? 'running' : 'lost' } as const;
      attempts.set(attempt, { ...begun, ...(fallback && { runtime: fallback.runtime }) });
    } else if (event.type === 'attempt.finished') {
      const begun = attempts.get(event.attempt);
      if (begun) attempts.set(event.attempt, { ...begun, ...ended(event, atMs) });
    }
  }
  return [...attempts.values()];
}

type Finished = Extract<Event, { type: 'attempt.finished' }>;

function ended(
  { outcome, durationMs, collected, feedback, error }: Finished,
  endedAtMs: number,
): Omit<ShownAttempt, 'attempt' | 'purpose' | 'startedAtMs'> {
  return {
    state: outcome.kind,
    endedAtMs,
    durationMs,
    ...(outcome.kind === 'failed' && { reason: outcome.reason, message: outcome.message }),
    ...(feedback !== undefined && { feedback }),
    ...(error && { error }),
    ...(collected && {
      commit: collected.commit,
      changedCount: collected.changedCount,
      artifactCount: collected.artifacts.length,
      ...(collected.outside && { outsideCount: collected.outside.count }),
    }),
  };
}
