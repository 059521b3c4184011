/** How a task is shown that was at work when its engine ended: it will be done again. */
import type { TaskView } from '../contract/run.ts';

export function stopped(task: TaskView): TaskView {
  if (task.state !== 'running' && task.state !== 'merging') return task;
  const { held: _, steerable: __, services: ___, ...rest } = task;
  return { ...rest, state: 'ready', message: `interrupted while ${task.state}` };
}
