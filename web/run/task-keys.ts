/** j and k go through the tasks, { and } to those that failed, Esc back. */
import { useCommands } from '../app/commands.tsx';
import type { RunAt } from '../film/run-at.ts';

export interface TaskChoice {
  chosen: string | undefined;
  /** That one, where it was chosen and not just shown. */
  named: string | undefined;
  choose(task: string | null): void;
}

export function useTaskKeys(at: RunAt, { chosen, named, choose }: TaskChoice): void {
  const ids = at.tasks.map(({ facts }) => facts.id);
  const failed = at.tasks.filter(({ view }) => view.state === 'failed').map(({ facts }) => facts.id);
  const step = (within: readonly string[], by: 1 | -1) => () => {
    const from = chosen === undefined ? -1 : ids.indexOf(chosen);
    const places = within.map((id) => ids.indexOf(id));
    const next = by === 1 ? places.find((place) => place > from) : places.findLast((place) => place < from);
    if (next !== undefined) choose(ids[next]!);
  };
  useCommands([
    { id: 'next-task', label: 'Next task', keys: 'j', run: step(ids, 1) },
    { id: 'last-task', label: 'Task before', keys: 'k', run: step(ids, -1) },
    { id: 'next-failed', label: 'Next failed task', keys: '}', run: step(failed, 1) },
    { id: 'last-failed', label: 'Failed task before', keys: '{', run: step(failed, -1) },
    {
      id: 'no-task',
      label: 'Close the task',
      keys: 'Escape',
      isDisabled: named === undefined,
      run: () => choose(null),
    },
  ]);
}
