/** The tasks of a run as rows, where there is no room for a graph. */
import { useMemo, useState, type ReactNode } from 'react';
import type { RunAt, TaskAt } from '../../film/run-at.ts';
import { signOf, toneOf } from '../../parts/tone.ts';
import { lookOf, shownState } from './task-look.ts';

export interface TaskRowsProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
}

const ROWS_FIRST = 100;
const PIPS_MAX = 24;

export function TaskRows({ at, chosen, choose }: TaskRowsProps): ReactNode {
  const [rowsMax, setRowsMax] = useState(ROWS_FIRST);
  const children = useMemo(() => Map.groupBy(at.tasks, ({ facts }) => facts.parent), [at.tasks]);
  const top = children.get(undefined) ?? [];
  return (
    <div className="rows">
      {top.slice(0, rowsMax).map((task) => (
        <TaskRow
          key={task.facts.id}
          task={task}
          within={children.get(task.facts.id) ?? []}
          atMs={at.atMs}
          isChosen={task.facts.id === chosen}
          choose={choose}
        />
      ))}
      {top.length > rowsMax && (
        <button className="act" onClick={() => setRowsMax(rowsMax + ROWS_FIRST)}>
          Show more: {top.length - rowsMax} are left
        </button>
      )}
    </div>
  );
}

interface TaskRowProps {
  task: TaskAt;
  within: readonly TaskAt[];
  atMs: number;
  isChosen: boolean;
  choose(task: string): void;
}

function TaskRow({ task, within, atMs, isChosen, choose }: TaskRowProps): ReactNode {
  const { tone, sign, state, detail, nth, does } = lookOf(task, atMs);
  return (
    <button
      className={`row ${tone}`}
      aria-current={isChosen ? 'true' : undefined}
      onClick={() => choose(task.facts.id)}
    >
      <span className="sign" aria-hidden="true">
        {sign}
      </span>
      <b>{task.facts.label}</b>
      <span className="unseen">{state}</span>
      <small>{[nth, within.length > 0 ? doneOf(within) : detail].filter(Boolean).join(' · ')}</small>
      {within.length > 0 && (
        <span className="pips" aria-hidden="true">
          {within.slice(0, PIPS_MAX).map(({ facts, view }) => (
            <span key={facts.id} className={`sign ${toneOf(shownState(view))}`}>
              {signOf(shownState(view))}
            </span>
          ))}
          {within.length > PIPS_MAX && <small>and {within.length - PIPS_MAX} more</small>}
        </span>
      )}
      {does !== '' && tone !== 'still' && <span className="does">{does}</span>}
    </button>
  );
}

function doneOf(within: readonly TaskAt[]): string {
  return `${within.filter(({ view }) => view.state === 'done').length} of ${within.length} done`;
}
