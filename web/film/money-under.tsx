/** What a run had spent at each moment, under its film, with its limit. */
import { memo, useMemo, type ReactNode } from 'react';
import { describeUsd } from '../../src/schedule/money/budget-words.ts';
import type { RunAt } from './run-at.ts';
import { thinned } from './thinned.ts';

const HEIGHT_PX = 24;
const POINTS_MAX = 400;

export interface MoneyUnderProps {
  at: RunAt;
  fromMs: number;
  toMs: number;
}

export const MoneyUnder = memo(function MoneyUnder({ at, fromMs, toMs }: MoneyUnderProps): ReactNode {
  const { spent, run } = at;
  const limit = run.limits?.usd;
  const total = spent.at(-1)?.usd ?? 0;
  const top = Math.max(limit ?? 0, total);
  // The same at all moments.
  const points = useMemo(
    () =>
      thinned(spent, POINTS_MAX).map(
        ({ atMs, usd }) => `${((atMs - fromMs) / (toMs - fromMs)).toFixed(5)},${(1 - usd / top).toFixed(4)}`,
      ),
    [spent, spent.length, fromMs, toMs, top],
  );
  if (total === 0 && limit === undefined) return null;
  const then = at.isLive ? total : (spent.findLast(({ atMs }) => atMs <= at.atMs)?.usd ?? 0);
  const share = Math.min(1, Math.max(0, (at.atMs - fromMs) / (toMs - fromMs)));
  return (
    <div className="money">
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" height={HEIGHT_PX} aria-hidden="true">
        <polygon className="cash" points={`0,1 ${points.join(' ')} 1,${(1 - total / top).toFixed(4)} 1,1`} />
      </svg>
      {limit !== undefined && <span className="limit">{describeUsd(limit)}</span>}
      {(spent.length > 0 || !run.spending) && (
        <b className={share < 0.15 ? 'sum after' : 'sum'} style={{ left: `${share * 100}%` }}>
          {describeUsd(then)}
        </b>
      )}
    </div>
  );
});
