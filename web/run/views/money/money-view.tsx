/** What a run had spent by a moment, of what limit, on what, and what was said about it. */
import { useMemo, useState, type CSSProperties, type ReactNode } from 'react';
import type { ReportAt } from '../../../../src/contract/report.ts';
import { tokensInAll, type Spending } from '../../../../src/contract/model.ts';
import { budgetNotes, priceNotes, waitNotes } from '../../../../src/report/cost-words.ts';
import { shortCount, tellUsd, tellWaiting } from '../../../../src/report/money.ts';
import { count } from '../../../../src/report/words.ts';
import {
  describeAccount,
  describeUnit,
  describeUsd,
  sentence,
} from '../../../../src/schedule/money/budget-words.ts';
import { plain } from '../../../parts/plain.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { Curve } from './curve.tsx';
import { spentBy, type Share } from './spent-by.ts';
import './money.css';

export interface MoneyViewProps {
  at: RunAt;
  choose(task: string): void;
  wind(atMs: number): void;
}

export function MoneyView({ at, choose, wind }: MoneyViewProps): ReactNode {
  const { tasks, agents, models } = useMemo(() => spentBy(at), [at]);
  const report = at.report();
  const labelOf = (id: string): string => at.task(id)?.facts.label ?? id;
  const { spending, limits } = at.run;
  const waits = (at.run.waits ?? []).filter(({ untilMs }) => untilMs > at.atMs);
  if (!spending?.requests && report.budgets.length === 0)
    return (
      <div className="nothing">
        <b>No model was used by then.</b>
        <p>
          What agents ask of models is metered here. Plain commands cost nothing. A limit for a run is its{' '}
          <code>budget</code>, or <code>bosun budget {at.run.id} --usd 5</code>.
        </p>
      </div>
    );
  return (
    <div className="scroll money">
      <p className="lead">
        <b>{spending?.requests ? tellUsd(spending) || 'Price unknown' : describeUsd(0)}</b>
        {limits?.usd !== undefined && <> of {describeUsd(limits.usd)}</>} spent, in{' '}
        {count(spending?.requests ?? 0, 'request')} and{' '}
        {shortCount(spending ? tokensInAll(spending.tokens) : 0)} tokens.
      </p>
      {at.spent.length > 0 && <Curve at={at} wind={wind} />}
      {waits.map((wait) => (
        <p key={wait.provider} className="note ask">
          {plain(sentence(tellWaiting(wait, wait.untilMs - at.atMs)))}
        </p>
      ))}
      {report.budgets.length > 0 && <Budgets report={report} />}
      <Shares title="By task" shares={tasks} nameOf={labelOf} choose={choose} />
      <Shares title="By agent" shares={agents} />
      <Shares title="By model" shares={models} />
      <Notes lines={[...priceNotes(report.totals.cost), ...waitNotes(report)]} />
    </div>
  );
}

/** What is left of each, as a bar that drains. */
function Budgets({ report }: { report: ReportAt }): ReactNode {
  const notes = budgetNotes(report);
  return (
    <>
      <h2>Budgets</h2>
      <ul className="budgets">
        {report.budgets.map(({ account, limits }, n) => (
          <li key={account}>
            <b>{plain(sentence(describeAccount(account)))}</b>
            {limits.map(({ unit, limit, spent }) => {
              const used = limit === 0 ? 1 : Math.min(1, spent / limit);
              return (
                <span key={unit} className={`limit-row ${used >= 1 ? 'bad' : used >= 0.8 ? 'ask' : 'still'}`}>
                  <span
                    className="drain"
                    style={{ '--left': 1 - used } as CSSProperties}
                    aria-hidden="true"
                  />
                  {describeUnit(unit, Math.max(0, limit - spent))} left of {describeUnit(unit, limit)}
                </span>
              );
            })}
            {notes[n] !== '' && <small className="quiet">{notes[n]}</small>}
          </li>
        ))}
      </ul>
    </>
  );
}

const SHOWN_FIRST = 10;

interface SharesProps {
  title: string;
  shares: readonly Share[];
  nameOf?(name: string): string;
  choose?(task: string): void;
}

function Shares({ title, shares, nameOf = (name) => name, choose }: SharesProps): ReactNode {
  const [isAll, setAll] = useState(false);
  if (shares.length === 0) return null;
  const most = Math.max(...shares.slice(0, 1).map(({ spending }) => spending.usd), 1e-9);
  const shown = isAll ? shares.slice(0, 500) : shares.slice(0, SHOWN_FIRST);
  return (
    <>
      <h2>{title}</h2>
      <ul className="shares-list">
        {shown.map(({ name, spending }) => (
          <li key={name}>
            {choose ? (
              <button className="task-name" onClick={() => choose(name)}>
                {plain(nameOf(name))}
              </button>
            ) : (
              <b>{plain(nameOf(name))}</b>
            )}
            <span
              className="part"
              style={{ '--part': spending.usd / most } as CSSProperties}
              aria-hidden="true"
            />
            <span className="usd">{tellUsd(spending) || 'price unknown'}</span>
            <small className="quiet">{usedOf(spending)}</small>
          </li>
        ))}
      </ul>
      {shares.length > SHOWN_FIRST && (
        <button className="link" onClick={() => setAll(!isAll)}>
          {isAll ? 'Show fewer' : `Show ${shares.length - SHOWN_FIRST} more`}
        </button>
      )}
    </>
  );
}

function usedOf({ tokens, requests }: Spending): string {
  return `${shortCount(tokensInAll(tokens))} tokens, ${count(requests, 'request')}`;
}

function Notes({ lines }: { lines: readonly string[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <>
      <h2>To know</h2>
      <ul className="notes">
        {lines.map((line) => (
          <li key={line}>{plain(sentence(line))}.</li>
        ))}
      </ul>
    </>
  );
}
