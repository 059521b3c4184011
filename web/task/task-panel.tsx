/** A task at a moment: its attempts, its log, its changes. */
import type { ReactNode } from 'react';
import { useOutput } from '../data/use-output.ts';
import type { RunAt } from '../film/run-at.ts';

export interface TaskPanelProps {
  at: RunAt;
  task: string;
}

export function TaskPanel({ at, task }: TaskPanelProps): ReactNode {
  const { entries } = useOutput(at.repository, at.run.id, task);
  return (
    <>
      <h2>{at.task(task)?.facts.label ?? task}</h2>
      <ol>
        {entries.map(({ seq, text }) => (
          <li key={seq}>{text}</li>
        ))}
      </ol>
    </>
  );
}
