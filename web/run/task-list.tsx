/** The tasks of a run, left of everything: how each stands, and how long it was at work. */
import { useMemo, useState, type ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { signOf, toneOf } from '../parts/tone.ts';

export interface TaskListProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
}

const ROWS_MAX = 300;

export function TaskList({ at, chosen, choose }: TaskListProps): ReactNode {
  const [wanted, setWanted] = useState('');
  const shown = useMemo(() => filtered(at.tasks, wanted), [at.tasks, wanted]);
  return (
    <nav className="list" aria-label="Tasks">
      <input
        type="search"
        placeholder="Filter tasks"
        aria-label="Filter tasks"
        value={wanted}
        onChange={({ target }) => setWanted(target.value)}
      />
      {shown.slice(0, ROWS_MAX).map((task) => (
        <TaskRow
          key={task.facts.id}
          task={task}
          depth={depthOf(at, task)}
          atMs={at.atMs}
          isChosen={task.facts.id === chosen}
          choose={choose}
        />
      ))}
      {shown.length === 0 && <p className="quiet">No task is called that.</p>}
    </nav>
  );
}

interface TaskRowProps {
  task: TaskAt;
  depth: number;
  atMs: number;
  isChosen: boolean;
  choose(task: string): void;
}

function TaskRow({ task: { facts, view }, depth, atMs, isChosen, choose }: TaskRowProps): ReactNode {
  const state = view.held?.by === 'question' ? 'asking' : view.state;
  const worked = workedMs(view, atMs);
  return (
    <button
      className={`task ${toneOf(state)}${depth > 0 ? ' inner' : ''}`}
      aria-current={isChosen ? 'true' : undefined}
      title={facts.title}
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

/** How long its attempts were at work by then. */
function workedMs({ workedMs: before = 0, attemptAtMs }: TaskAt['view'], atMs: number): number {
  return before + (attemptAtMs === undefined ? 0 : Math.max(0, atMs - attemptAtMs));
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
