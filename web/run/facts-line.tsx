/** A run in figures: who is at work, what it spent, what it changed, from where, and behind which fences. */
import type { ReactNode } from 'react';
import { shownCounts } from '../../src/contract/run.ts';
import { isFenced, type Isolation } from '../../src/contract/isolation.ts';
import { isolationLines } from '../../src/report/isolation.ts';
import { tellUsd } from '../../src/report/money.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { count } from '../../src/report/words.ts';
import { describeUsd } from '../../src/schedule/money/budget-words.ts';
import type { RunAt } from '../film/run-at.ts';

export function FactsLine({ at }: { at: RunAt }): ReactNode {
  const { run } = at;
  const { spending, limits } = run;
  const spent = spending ? tellUsd(spending).replace(' (estimated)', '') : describeUsd(0);
  const workflowFrom = run.baseCommit.slice(0, 7);
  return (
    <p className="facts">
      <Counts at={at} />
      {(spent !== '' || limits?.usd !== undefined) && (
        <span>
          <b>{spent === '' ? 'no price known' : spent}</b>
          {limits?.usd !== undefined && ` of ${describeUsd(limits.usd)}`}
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
  const shown = parts.filter(([each]) => each > 0);
  return (
    <span>
      {shown.map(([each, word, look], n) => (
        <span key={word}>
          {n > 0 && ', '}
          {look === '' ? `${each} ${word}` : <b className={look}>{`${each} ${word}`}</b>}
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
  const last = at.isolations.at(-1);
  if (!last) return null;
  const outside = at.tasks.reduce((sum, { view }) => sum + (view.outsideCount ?? 0), 0);
  return (
    <span className="wide" title={isolationLines(at.isolations, true).map(spellControls).join('\n')}>
      <Held isolations={at.isolations} last={last} /> ·{' '}
      {outside === 0 ? 'nothing outside' : <b className="asks">{`${outside} outside, left out`}</b>}
    </span>
  );
}

/** In full it is in the report; what did not hold is said loudly, also of an engine that went before. */
function Held({ isolations, last }: { isolations: readonly Isolation[]; last: Isolation }): ReactNode {
  if (!isFenced(last)) return <b className="fails">not fenced</b>;
  if (!isolations.every(isFenced)) return <b className="fails">not fenced at first</b>;
  if (last.notes.length === 0) return 'fences hold';
  return <b className="asks">fences hold, with {count(last.notes.length, 'exception')}</b>;
}
