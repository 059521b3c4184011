/** Finds the task that a person means: by its id, or by what they see it called, such as `review[security]`. */
import { BosunError } from '../contract/errors.ts';
import type { TaskView } from '../contract/run.ts';

interface Named {
  readonly id: string;
  readonly label?: string;
}

/** `more` is told with it where there is no such task. */
export async function requireTask<T extends Named>(
  run: string,
  tasks: readonly T[],
  name: string,
  more = '',
): Promise<T> {
  const found = tasks.find(({ id }) => id === name) ?? tasks.find(({ label }) => label === name);
  if (found) return found;
  const { suggest } = await import('../base/suggest.ts'); // needed only here, and `logs` starts quickly
  const close = suggest(
    name,
    tasks.flatMap(({ id, label }) => (label === undefined ? [id] : [id, label])),
  );
  const near = close === undefined ? '' : `; did you mean ${close}?`;
  throw new BosunError('not-found', `run ${run} has no task ${name}${near}${more}`);
}

/** The task that did the work: of a race, the candidate that was picked, unless its conflict was settled since. */
export async function workOf(run: string, tasks: TaskView[], name: string): Promise<TaskView> {
  const task = await requireTask(run, tasks, name);
  if (task.picked === undefined || task.attempt > 0) return task;
  return tasks.find(({ id }) => id === task.picked) ?? task;
}
