/**
 * What models cost, in few words, for a terminal and for the page. It never formats by a language's rules: `status`
 * uses it, and the first use of the language data takes longer than all else that a short command does.
 */
import type { BudgetMark } from '../contract/event.ts';
import { NO_TOKENS, tokensInAll, type Spending } from '../contract/model.ts';
import { formatDuration } from '../base/units.ts';
import type { BudgetUnit } from '../contract/budget-units.ts';
import { describeUnit, describeUsd } from '../schedule/money/budget-words.ts';

type Limits = Partial<Record<BudgetUnit, number>>;

/** "$0.42 of $5.00 · 120k tokens"; empty where nothing was spent and nothing limits it. */
export function tellSpending(spending: Spending | undefined, limits: Limits = {}): string {
  const { requests, tokens, ...paid } = spending ?? NOTHING;
  const of = (limit: string | undefined): string => (limit === undefined ? '' : ` of ${limit}`);
  const usd = usdOf({ ...paid, requests });
  const known = usd === '' && limits.usd !== undefined ? describeUsd(0) : usd;
  const parts = [
    known &&
      `${known}${of(limits.usd === undefined ? undefined : describeUsd(limits.usd))}${ifEstimated(paid)}`,
    requests > 0 || limits.tokens !== undefined
      ? `${shortCount(tokensInAll(tokens))}${of(limits.tokens === undefined ? undefined : shortCount(limits.tokens))} tokens`
      : '',
    limits.requests === undefined ? '' : `${requests} of ${describeUnit('requests', limits.requests)}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

type Paid = Pick<Spending, 'usd' | 'unpriced' | 'requests' | 'estimated'>;

/** Empty where no price is known; some are not: "over $0.42"; some are guessed: "~$0.42 (estimated)". */
export function tellUsd(paid: Paid): string {
  const usd = usdOf(paid);
  return usd && `${usd}${ifEstimated(paid)}`;
}

function usdOf({ usd, unpriced, requests, estimated }: Paid): string {
  if (requests === 0 || unpriced === requests) return '';
  if (unpriced > 0) return `over ${describeUsd(usd)}`;
  return `${estimated ? '~' : ''}${describeUsd(usd)}`;
}

function ifEstimated({ estimated }: Pick<Spending, 'estimated'>): string {
  return estimated ? ' (estimated)' : '';
}

/** The largest share of a limit that is used; of minutes nothing is said here. */
export function shareUsed(spending: Spending | undefined, limits: Limits = {}): number {
  if (!spending) return 0;
  const { usd = Infinity, tokens = Infinity, requests = Infinity } = limits;
  return Math.max(spending.usd / usd, tokensInAll(spending.tokens) / tokens, spending.requests / requests);
}

/** What to type where the budget of a run stopped it, as `short` says: gives it as much again, or as often as it takes. */
export function raiseCommand(
  run: string,
  spending: Spending = NOTHING,
  limits: Limits = {},
  short?: (Pick<BudgetMark, 'unit' | 'next'> & Partial<BudgetMark>) | null,
): string {
  const [, period] = short?.account?.match(/^(?:all|repository):(day|month)$/) ?? [];
  if (period !== undefined) {
    const { spent = 0, limit: now = 1, next = 0 } = short!;
    const enough = now * (Math.floor((spent + next) / now + 1e-9) + 1);
    return `bosun budget --usd-per-${period} ${Number(enough.toPrecision(9))}`;
  }
  const { usd, requests } = spending;
  const spent = { usd, tokens: tokensInAll(spending.tokens), requests };
  const unit =
    short?.unit ??
    (['usd', 'tokens', 'requests'] as const).find((each) => spent[each] >= (limits[each] ?? Infinity)) ??
    'minutes';
  const limit = limits[unit];
  if (limit === undefined) return `bosun budget ${run}`;
  // Beyond what is spent, also where many answers were under way; sums of fractions are never exact.
  const times = unit === 'minutes' ? 1 : Math.floor((spent[unit] + (short?.next ?? 0)) / limit + 1e-9);
  const raised = limit * (times + 1);
  return `bosun budget ${run} --${unit} ${Number(raised.toPrecision(9))}`;
}

/** "anthropic rate limit: next request in 1.0s (a, c and d wait)" */
export function tellWaiting(
  wait: { provider: string; why: string; tasks?: string[] },
  leftMs: number,
): string {
  const { provider, why, tasks = [] } = wait;
  const what = why.includes(provider) ? why : `${provider}: ${why}`;
  const seconds = Math.max(0, leftMs) / 1000;
  const time = seconds < 60 ? `${seconds.toFixed(1)}s` : formatDuration(leftMs);
  return `${what}: next request in ${time}${waitersOf(tasks)}`;
}

/** As many as a line has room for. */
const WAITERS_SHOWN = 4;

function waitersOf(tasks: string[]): string {
  if (tasks.length === 0) return '';
  if (tasks.length === 1) return ` (${tasks[0]} waits)`;
  const shown = tasks.slice(0, tasks.length > WAITERS_SHOWN ? WAITERS_SHOWN : -1);
  const last = tasks.length > WAITERS_SHOWN ? `${tasks.length - WAITERS_SHOWN} more` : tasks.at(-1);
  return ` (${shown.join(', ')} and ${last} wait)`;
}

/** What follows "waited 30s": the provider, unless the reason names it anyway. */
export function forProvider({ provider, why }: { provider: string; why: string }): string {
  return why.includes(provider) ? `: ${why}` : ` for ${provider}: ${why}`;
}

/** 950 → "950", 9_540 → "9.5k", 120_400 → "120k", 1_250_000 → "1.3M". */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1e6, 'M'];
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

const NOTHING: Spending = { requests: 0, tokens: NO_TOKENS, usd: 0, unpriced: 0 };
