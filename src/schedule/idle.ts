/** When nobody was at work on a run, as its events tell. Pure, and the one rule for state, report and live view. */
import type { Event } from '../contract/event.ts';

interface Before {
  lastAtMs: number;
  /** Whether an engine was at work before, or the run waited for one. */
  hadEngine: boolean;
  /** Nobody has begun it. */
  isQueued: boolean;
}

/** How far the clock went without anybody at work, up to this event; negative where somebody set it back. */
export function skippedMs(event: Event, atMs: number, { lastAtMs, hadEngine, isQueued }: Before): number {
  if (event.type === 'clock.jumped') return event.ms;
  const begins = event.type === 'run.isolation' && hadEngine;
  const isLeft = event.type === 'run.cancelling' && isQueued;
  return begins || isLeft ? Math.max(0, atMs - lastAtMs) : 0;
}
