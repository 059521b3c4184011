/** The agents of a run, with their parents: what the views of its tasks say, and what still waits to be taken. It keeps no list. */
import type { OutputOf, Reading } from '../contract/operations.ts';
import type { TaskState, TaskView } from '../contract/run.ts';
import { findRun, openJournal } from '../run/journal.ts';

const STATES: Record<TaskState, OutputOf<'agents'>[number]['state']> = {
  waiting: 'pending',
  ready: 'pending',
  running: 'active',
  delayed: 'active',
  asking: 'active',
  merging: 'active',
  expanded: 'active',
  done: 'completed',
  failed: 'failed',
  skipped: 'failed',
  cancelled: 'failed',
};

/** In the order in which they are shown; those that no engine has taken yet come last. */
export async function agentsOf(options: Reading<'agents'>): Promise<OutputOf<'agents'>> {
  await using journal = await openJournal(options.cwd);
  const { store } = journal;
  const run = await findRun(journal, options.run);
  const tasks = await store.tasks(run.id);
  const requests = await store.requests(run.id);
  const parentOf = ({ parent }: TaskView): { parent?: string } => {
    if (parent !== undefined) return { parent: `${run.id}/${parent}` };
    return run.parent ? { parent: `${run.parent.run}/${run.parent.task}` } : {};
  };
  const known = tasks.flatMap((task) =>
    task.agent === undefined
      ? []
      : [
          {
            run: run.id,
            task: task.id,
            ...(task.label !== undefined && { label: task.label }),
            role: task.agent,
            ...parentOf(task),
            state: STATES[task.state],
            taskState: task.state,
            ...(task.message !== undefined && { message: task.message }),
          },
        ],
  );
  const asked = requests.flatMap(({ request }) => {
    if (request.do !== 'spawn') return [];
    const { agent } = request.child;
    const role = typeof agent === 'string' ? agent : (agent?.runtime ?? '');
    return [{ run: run.id, role, parent: `${run.id}/${request.task}`, state: 'pending' as const }];
  });
  return [...known, ...asked];
}
