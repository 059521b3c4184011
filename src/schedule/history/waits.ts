/** How long providers were waited for, in whatever task. Keeps no more than a report has room for. */
import type { EventOf } from '../../contract/event.ts';
import type { WaitReport } from '../../contract/report.ts';
import { HISTORY_LIMITS } from './limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';

const REASONS_MAX = 50;

export interface Waits {
  provider: string;
  why: string;
  times: [fromMs: number, toMs: number][];
  count: number;
}

export function countWait(
  all: Waits[],
  { provider, why, delayMs }: EventOf<'model.waiting'>,
  atMs: number,
): void {
  const told = cutAndCount(why, HISTORY_LIMITS.lineChars);
  let known = all.find((each) => each.provider === provider && each.why === told);
  if (!known) {
    if (all.length >= REASONS_MAX) return;
    all.push((known = { provider, why: told, times: [], count: 0 }));
  }
  known.count += 1;
  const last = known.times.at(-1);
  if (last && atMs <= last[1]) last[1] = Math.max(last[1], atMs + delayMs);
  else if (known.times.length < HISTORY_LIMITS.listEntries) known.times.push([atMs, atMs + delayMs]);
}

/** A wait ends with the run at the latest. */
export function waitReports(all: readonly Waits[], lastAtMs: number): WaitReport[] {
  return all.map(({ provider, why, times, count }) => ({
    provider,
    why,
    count,
    waitedMs: lengthMs(times.map(([fromMs, toMs]) => [fromMs, Math.min(toMs, lastAtMs)])),
  }));
}

/** How long it was, what overlaps counted once. */
function lengthMs(times: (readonly [fromMs: number, toMs: number])[]): number {
  let sumMs = 0;
  let untilMs = -Infinity;
  for (const [fromMs, toMs] of times.toSorted((a, b) => a[0] - b[0])) {
    sumMs += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return sumMs;
}
