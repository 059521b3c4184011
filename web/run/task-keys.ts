/** j and k go through the tasks, { and } to those that failed, Esc back. */
import { useRef } from 'react';
import { useCommands } from '../app/commands.tsx';
import type { RunAt, TaskAt } from '../film/run-at.ts';

export interface TaskChoice {
  chosen: string | undefined;
  /** That one, where it was chosen and not just shown. */
  named: string | undefined;
  choose(task: string | null): void;
}

export function useTaskKeys(at: RunAt, { chosen, named, choose }: TaskChoice): void {
  // Keys may be struck faster than the page is drawn: each goes on from where the one before led.
  const current = useRef(chosen);
  current.current = chosen;
  const isFailed = ({ view }: TaskAt): boolean => view.state === 'failed';
  const step = (by: 1 | -1, isMeant: (task: TaskAt) => boolean) => () => {
    const { tasks } = at;
    const from = tasks.findIndex(({ facts }) => facts.id === current.current);
    const next =
      by === 1
        ? tasks.find((task, n) => n > from && isMeant(task))
        : tasks.findLast((task, n) => n < from && isMeant(task));
    if (next) choose((current.current = next.facts.id));
  };
  const any = (): boolean => true;
  useCommands([
    { id: 'next-task', label: 'Next task', keys: 'j', run: step(1, any) },
    { id: 'last-task', label: 'Task before', keys: 'k', run: step(-1, any) },
    { id: 'next-failed', label: 'Next failed task', keys: '}', run: step(1, isFailed) },
    { id: 'last-failed', label: 'Failed task before', keys: '{', run: step(-1, isFailed) },
    {
      id: 'no-task',
      label: 'Close the task',
      keys: 'Escape',
      isDisabled: named === undefined,
      run: () => choose(null),
    },
  ]);
}
