/** The head of a run's page: which run, how it stands, whether what is shown is live, and its figures. */
import type { ReactNode } from 'react';
import { formatDuration } from '../../src/base/units.ts';
import type { Link } from '../data/link.ts';
import type { RunAt } from '../film/run-at.ts';
import { signOf, toneOf } from '../parts/tone.ts';
import { FactsLine } from './facts-line.tsx';
import { RunActions } from './run-actions.tsx';

export interface RunHeaderProps {
  at: RunAt;
  link: Link;
  wind(atMs: number | null): void;
}

export function RunHeader({ at, link, wind }: RunHeaderProps): ReactNode {
  const { repository, run, state } = at;
  const tone = toneOf(state);
  return (
    <>
      <div className="line1">
        <h1>
          <a href="/" title="All runs">
            ‹<span> {repository} /</span>
          </a>{' '}
          {run.id}
        </h1>
        <span className={`badge ${tone}`}>
          {signOf(state)} {standing(at)}
        </span>
        <div className="right">
          <Liveness at={at} link={link} wind={wind} />
          <RunActions at={at} />
        </div>
      </div>
      <FactsLine at={at} />
    </>
  );
}

/** "running for 9m31s", "done in 4m12s" */
function standing({ run, state, atMs }: RunAt): string {
  const untilMs = run.endedAtMs ?? atMs;
  const took = formatDuration(whole(untilMs - run.createdAtMs - (run.idleMs ?? 0)));
  switch (state) {
    case 'pending':
      return 'waits for an engine';
    case 'interrupted':
      return 'nobody drives it';
    case 'done':
      return `done in ${took}`;
    case 'cancelled':
      return run.because === 'budget' ? `stopped at its budget after ${took}` : `cancelled after ${took}`;
    case 'failed':
    case 'paused':
      return `${state} after ${took}`;
    default:
      return `${state} for ${took}`;
  }
}

function Liveness({ at, link, wind }: RunHeaderProps): ReactNode {
  if (link.state === 'lost')
    return (
      <span className="live lost" role="status">
        not live since {clockTime(link.sinceMs)} · trying
      </span>
    );
  const isOver = at.run.endedAtMs !== undefined;
  if (at.isLive) return isOver ? null : <span className="live">live</span>;
  return (
    <button className="live" title="Space" aria-keyshortcuts="Space" onClick={() => wind(null)}>
      {formatDuration(whole(at.lastAtMs - at.atMs))}{' '}
      {isOver ? 'before its end · to the end' : 'ago · back to live'}
    </button>
  );
}

function whole(ms: number): number {
  return ms < 1000 ? ms : Math.floor(ms / 1000) * 1000;
}

function clockTime(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB');
}
