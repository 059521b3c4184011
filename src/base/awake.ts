/**
 * Time as it passes for this process: what it slept, stopped by a signal or with the whole machine, is nobody's time.
 * Whatever waits or measures on behalf of tasks uses this instead of the clocks of the system.
 */
import { TIMER_MS_MAX } from './units.ts';

const TICK_MS = 250;
/** A process that has not had a turn for so long was not there. */
const GAP_MS = 2000;

let sleptMs = 0;
let lastMs: number | undefined;

/** Milliseconds from some moment on; only differences mean something. It never goes back. */
export function awakeMs(): number {
  const nowMs = performance.now();
  if (lastMs === undefined) setInterval(awakeMs, TICK_MS).unref();
  else if (nowMs - lastMs > GAP_MS) sleptMs += nowMs - lastMs - TICK_MS;
  lastMs = nowMs;
  return nowMs - sleptMs;
}

/** Acts once this process was awake for so long; gives what calls it off. */
export function whenAwakeFor(delayMs: number, act: () => void): () => void {
  const dueMs = awakeMs() + delayMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = dueMs - awakeMs();
    timer = setTimeout(() => (awakeMs() < dueMs - 1 ? wait() : act()), Math.min(leftMs, TIMER_MS_MAX));
  };
  wait();
  return () => clearTimeout(timer);
}
