/** Times as a person says them: how long ago, how long still, what the clock says. */
import { useEffect, useState } from 'react';
import { formatDuration } from '../../src/base/units.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The time, each second; it stands still where `goesOn` is false. */
export function useNow(goesOn = true): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!goesOn) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND);
    return () => clearInterval(timer);
  }, [goesOn]);
  return nowMs;
}

/** "just now", "2 min ago", "3 h ago", "5 days ago" */
export function ago(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}

/** "7m 48s", in whole seconds. */
export function left(ms: number): string {
  return formatDuration(Math.max(SECOND, Math.floor(ms / SECOND) * SECOND)).replace(/\.0s$/, 's');
}

/** "09:58" today, "Sun" within a week, else "3 Nov". */
export function clock(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  if (at.toDateString() === new Date(nowMs).toDateString())
    return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (nowMs - atMs < 6 * DAY) return at.toLocaleDateString('en-GB', { weekday: 'short' });
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}
