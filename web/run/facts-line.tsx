/** A run in figures: who is at work, what it spent, what it changed, from where, and behind which fences. */
import type { ReactNode } from 'react';
import { shownCounts } from '../../src/contract/run.ts';
import type { RunAt } from '../film/run-at.ts';

export function FactsLine({ at }: { at: RunAt }): ReactNode {
  const { run } = at;
  const { spending, limits } = run;
  const workflowFrom = run.baseCommit.slice(0, 7);
  return (
    <p className="facts">
      <Counts at={at} />
      {(spending !== undefined || limits?.usd !== undefined) && (
        <span>
          <b>${(spending?.usd ?? 0).toFixed(2)}</b>
          {limits?.usd !== undefined && ` of $${limits.usd.toFixed(2)}`}
        </span>
      )}
      <Changes at={at} />
      <span className="wide">
        from <code>{workflowFrom}</code>
      </span>
      <Fences at={at} />
    </p>
  );
}

/** "4 at work, 1 asks, 6 done, 3 wait" */
function Counts({ at: { run } }: { at: RunAt }): ReactNode {
  const counts = shownCounts(run);
  const of = (...states: (keyof typeof counts)[]): number =>
    states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const parts = [
    [of('running', 'merging'), 'at work', 'strong'],
    [of('asking'), of('asking') === 1 ? 'asks' : 'ask', 'asks'],
    [of('failed'), 'failed', 'fails'],
    [of('done'), 'done', ''],
    [of('waiting', 'ready', 'delayed'), of('waiting', 'ready', 'delayed') === 1 ? 'waits' : 'wait', ''],
    [of('skipped'), 'skipped', ''],
    [of('cancelled'), 'cancelled', ''],
  ] as const;
  const shown = parts.filter(([count]) => count > 0);
  return (
    <span>
      {shown.map(([count, word, look], n) => (
        <span key={word}>
          {n > 0 && ', '}
          {look === '' ? `${count} ${word}` : <b className={look}>{`${count} ${word}`}</b>}
        </span>
      ))}
    </span>
  );
}

function Changes({ at }: { at: RunAt }): ReactNode {
  const files = at.tasks.reduce(
    (sum, { view }) => sum + (view.commit === undefined ? 0 : (view.changedCount ?? 0)),
    0,
  );
  if (files === 0) return null;
  return (
    <span className="wide">
      <b>{files}</b> {files === 1 ? 'file' : 'files'} changed
    </span>
  );
}

function Fences({ at }: { at: RunAt }): ReactNode {
  if (at.isolation === undefined) return null;
  const outside = at.tasks.reduce((sum, { view }) => sum + (view.outsideCount ?? 0), 0);
  const holds = at.isolation === 'none' ? 'no fences' : 'fences hold';
  return (
    <span className="wide">
      {at.isolation === 'none' ? <b className="fails">{holds}</b> : holds} ·{' '}
      {outside === 0 ? 'nothing outside' : <b className="asks">{`${outside} outside, left out`}</b>}
    </span>
  );
}
