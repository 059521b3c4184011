/** The tasks of a run, left of everything: how each stands, and how long it was at work. */
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import { shownState, workedMs } from './views/task-look.ts';
import { useRows } from './views/use-rows.ts';

export interface TaskListProps {
  at: RunAt;
  chosen: string | undefined;
  /** That one, where somebody chose it: then it is to be seen. */
  named: string | undefined;
  choose(task: string): void;
}

/** Of each row, as the style has it; and of what is above them. */
const ROW_PX = 28;
const ABOVE_PX = 51;

export function TaskList({ at, chosen, named, choose }: TaskListProps): ReactNode {
  const [wanted, setWanted] = useState('');
  const scroller = useRef<HTMLElement>(null);
  const shown = useMemo(() => filtered(at.tasks, wanted), [at.tasks, wanted]);
  const { first, end } = useRows(scroller, shown.length, ROW_PX, ABOVE_PX);
  useEffect(() => {
    if (named !== undefined)
      reveal(
        scroller.current!,
        shown.findIndex(({ facts }) => facts.id === named),
      );
  }, [named]);
  return (
    <nav className="list" aria-label="Tasks" ref={scroller}>
      <input
        type="search"
        placeholder="Filter tasks"
        aria-label="Filter tasks"
        value={wanted}
        onChange={({ target }) => setWanted(target.value)}
      />
      <div className="tasks" style={{ height: shown.length * ROW_PX }}>
        {shown.slice(first, end).map((task, n) => (
          <TaskRow
            key={task.facts.id}
            task={task}
            top={(first + n) * ROW_PX}
            depth={depthOf(at, task)}
            atMs={at.atMs}
            isChosen={task.facts.id === chosen}
            choose={choose}
          />
        ))}
      </div>
      {shown.length === 0 && <p className="quiet">No task is called that.</p>}
    </nav>
  );
}

/** Scrolls as little as it takes to see the row. */
function reveal(scroller: HTMLElement, row: number): void {
  if (row === -1) return;
  const top = ABOVE_PX + row * ROW_PX;
  const { scrollTop, clientHeight } = scroller;
  if (top < scrollTop) scroller.scrollTop = row === 0 ? 0 : top;
  else if (top + ROW_PX > scrollTop + clientHeight) scroller.scrollTop = top + 2 * ROW_PX - clientHeight;
}

interface TaskRowProps {
  task: TaskAt;
  top: number;
  depth: number;
  atMs: number;
  isChosen: boolean;
  choose(task: string): void;
}

function TaskRow({ task, top, depth, atMs, isChosen, choose }: TaskRowProps): ReactNode {
  const { facts, view } = task;
  const state = shownState(view);
  const worked = workedMs(view, atMs);
  return (
    <button
      className={`task ${toneOf(state)}${depth > 0 ? ' inner' : ''}`}
      aria-current={isChosen ? 'true' : undefined}
      title={facts.title}
      style={{ top }}
      onClick={() => choose(facts.id)}
    >
      <span className="sign" aria-hidden="true">
        {signOf(state)}
      </span>
      <b>{facts.label}</b>
      <span className="unseen">{state}</span>
      <small>
        {worked > 0 ? formatDuration(worked < 1000 ? worked : Math.floor(worked / 1000) * 1000) : ''}
      </small>
    </button>
  );
}

function depthOf(at: RunAt, task: TaskAt): number {
  let depth = 0;
  for (let up = task.facts.parent; up !== undefined && depth < 8; up = at.task(up)?.facts.parent) depth++;
  return depth;
}

function filtered(tasks: readonly TaskAt[], wanted: string): readonly TaskAt[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return tasks;
  return tasks.filter(({ facts, view }) => {
    const text = `${facts.label} ${facts.id} ${view.state} ${facts.agent ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
