/** A run as it is now: its clocks go on between its events, for as long as it goes on and the page is live. */
import { useMemo } from 'react';
import { isOpen } from '../../src/contract/run.ts';
import type { Link } from '../data/link.ts';
import type { RunAt } from '../film/run-at.ts';
import { useNow } from '../parts/since.ts';

export function useTicking(at: RunAt, link: Link): RunAt {
  const goesOn = at.isLive && link.state === 'live' && isOpen(at);
  const nowMs = useNow(goesOn);
  return useMemo(() => (goesOn && nowMs > at.atMs ? { ...at, atMs: nowMs } : at), [at, goesOn, nowMs]);
}
