/** What was spent today and on the days before, by which agents, what may still be spent, and who waits for a provider. */
import { useEffect, useState, type ReactNode } from 'react';
import { formatCount } from '../../src/base/format-count.ts';
import type { Totals } from '../../src/contract/totals-schema.ts';
import { describeAccount, describeUsd } from '../../src/schedule/money/budget-words.ts';
import { ask, repositoryPath } from '../data/api.ts';
import type { RepositoryAt } from '../data/home-store.ts';
import { plain } from '../parts/plain.ts';
import { left } from '../parts/since.ts';
import { waitsOf } from './home-model.ts';

const RUNTIMES_MAX = 6;
const MILLION = 1_000_000;

export function Today({
  repositories,
  nowMs,
}: {
  repositories: readonly RepositoryAt[];
  nowMs: number;
}): ReactNode {
  const days = sumDays(repositories);
  const today = days.at(-1);
  const runtimes = useRuntimes(repositories, today?.day, Math.round((today?.usd ?? 0) * 100));
  const mostUsd = Math.max(...days.map(({ usd }) => usd), 1e-9);
  const shared = sharedOf(repositories);
  if (!today) return <aside className="today" aria-label="Today" />;
  const cached = today.tokens === 0 ? 0 : Math.round((100 * today.cacheRead) / today.tokens);
  return (
    <aside className="today" aria-label="Today">
      <h2 title="By runs that began today">Spent today</h2>
      <p className="sum">{describeUsd(today.usd)}</p>
      <p className="quiet">
        {today.tokens === 0 ? 'no tokens yet' : `${shortTokens(today.tokens)} tokens, ${cached} % from cache`}
      </p>
      <div
        className="day-bars"
        role="img"
        aria-label={`Dollars a day: ${days.map(({ usd }) => usd.toFixed(2)).join(', ')}`}
      >
        {days.map(({ day, usd }) => (
          <i
            key={day}
            style={{ height: `${(100 * usd) / mostUsd}%` }}
            title={`${day}: ${describeUsd(usd)}`}
          />
        ))}
      </div>
      <div className="days">
        <span>{shortDay(days[0]!.day)}</span>
        <span>today</span>
      </div>
      {runtimes.length > 0 && (
        <dl>
          {runtimes.map(({ key, usd }) => (
            <div key={key}>
              <dt>{plain(key, 40)}</dt>
              <dd>{describeUsd(usd)}</dd>
            </div>
          ))}
        </dl>
      )}
      {shared.map(({ account, spentUsd, limitUsd }) => (
        <p key={account} className="limit">
          <span className="meter">
            <i
              className={spentUsd >= limitUsd ? 'ask' : ''}
              style={{ width: `${Math.min(100, (100 * spentUsd) / limitUsd)}%` }}
            />
          </span>
          <span className="quiet">
            {describeUsd(spentUsd)} of {describeUsd(limitUsd)} · {describeAccount(account)}
          </span>
        </p>
      ))}
      <Waiting repositories={repositories} nowMs={nowMs} />
    </aside>
  );
}

function Waiting({
  repositories,
  nowMs,
}: {
  repositories: readonly RepositoryAt[];
  nowMs: number;
}): ReactNode {
  const { providers, slots } = waitsOf(repositories, nowMs);
  if (providers.length === 0 && slots === 0) return null;
  return (
    <div className="waits">
      {providers.map(({ name, untilMs, count }) => (
        <p key={name}>
          <b aria-hidden="true">◷</b> {plain(name, 40)} asks for patience:{' '}
          {count > 0 && `${count} ${count === 1 ? 'agent waits' : 'agents wait'}, `}
          {left(untilMs - nowMs)} more.
        </p>
      ))}
      {slots > 0 && (
        <p>
          <b aria-hidden="true">◷</b> {slots === 1 ? 'One agent waits' : `${slots} agents wait`} for a slot of
          this machine.
        </p>
      )}
    </div>
  );
}

type Day = RepositoryAt['days'][number];

function sumDays(repositories: readonly RepositoryAt[]): Day[] {
  const byDay = new Map<string, Day>();
  for (const { days } of repositories)
    for (const { day, usd, tokens, cacheRead } of days) {
      const known = byDay.get(day) ?? { day, usd: 0, tokens: 0, cacheRead: 0 };
      byDay.set(day, {
        day,
        usd: known.usd + usd,
        tokens: known.tokens + tokens,
        cacheRead: known.cacheRead + cacheRead,
      });
    }
  return [...byDay.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1));
}

/** Those of all repositories are the same in each. */
function sharedOf(repositories: readonly RepositoryAt[]): RepositoryAt['shared'] {
  const known = new Map<string, RepositoryAt['shared'][number]>();
  for (const { shared } of repositories)
    for (const each of shared)
      if (each.account.startsWith('all:') || repositories.length === 1) known.set(each.account, each);
  return [...known.values()];
}

/** Asked for anew as money is spent, and when another day begins. */
function useRuntimes(
  repositories: readonly RepositoryAt[],
  since: string | undefined,
  cents: number,
): { key: string; usd: number }[] {
  const [rows, setRows] = useState<{ key: string; usd: number }[]>([]);
  const names = repositories.map(({ name }) => name).join(' ');
  useEffect(() => {
    if (since === undefined || cents === 0) return setRows([]);
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const query = { per: 'runtime', since };
      const all = await Promise.all(
        names
          .split(' ')
          .map((name) => ask<Totals>(`${repositoryPath(name)}/totals`, { query, signal: stop.signal })),
      );
      const byKey = new Map<string, number>();
      for (const { key, usd } of all.flatMap((totals) => totals.rows))
        if (usd > 0) byKey.set(key, (byKey.get(key) ?? 0) + usd);
      const sorted = Array.from(byKey, ([key, usd]) => ({ key, usd })).toSorted((a, b) => b.usd - a.usd);
      setRows(sorted.slice(0, RUNTIMES_MAX));
    };
    read().catch(() => {}); // the sum above holds without it
    return () => stop.abort();
  }, [names, since, cents]);
  return rows;
}

function shortTokens(tokens: number): string {
  return tokens < MILLION ? formatCount(tokens) : `${(tokens / MILLION).toFixed(1)} M`;
}

function shortDay(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return new Date(year!, month! - 1, date).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}
