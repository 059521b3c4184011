/** What happened last, in a few lines below the graph. */
import type { ReactNode } from 'react';
import type { RunAt } from '../../../film/run-at.ts';
import { clock } from '../task-look.ts';
import { latestRows } from './journal-rows.ts';
import './journal.css';

export interface LatestProps {
  at: RunAt;
  choose(task: string): void;
  wind(atMs: number): void;
}

const LINES = 4;

export function Latest({ at, choose, wind }: LatestProps): ReactNode {
  const rows = latestRows(at, LINES);
  if (rows.length === 0) return null;
  return (
    <section className="feed" aria-label="Latest">
      <h2>Latest</h2>
      <ul>
        {rows.map(({ seq, atMs, task, text, tone }) => (
          <li key={seq}>
            <button className="when" onClick={() => wind(atMs)} title="Show this moment">
              {clock(atMs - at.startedAtMs)}
            </button>
            {task !== undefined && at.task(task) ? (
              <button className="task-name" onClick={() => choose(task)}>
                {at.task(task)!.facts.label}
              </button>
            ) : (
              <b>{at.run.id}</b>
            )}
            <span className={tone} title={text}>
              {text}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
