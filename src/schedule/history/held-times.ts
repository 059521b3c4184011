/** When the attempts of tasks waited for a person: for an answer, for a budget, or while they were paused. */
import type { EventOf } from '../../contract/event.ts';
import { HISTORY_LIMITS } from './limits.ts';

interface HeldTime {
  fromMs: number;
  toMs: number | null;
}

/** By task. */
export type HeldTimes = Map<string, HeldTime[]>;

const PERSONS: ReadonlySet<EventOf<'attempt.held'>['by']> = new Set(['question', 'budget', 'pause']);

export function noteHeldTime(
  heldTimes: HeldTimes,
  event: EventOf<'attempt.held' | 'attempt.released' | 'attempt.finished'>,
  atMs: number,
): void {
  const own = heldTimes.get(event.task) ?? [];
  const last = own.at(-1);
  const isHeld = event.type === 'attempt.held' && PERSONS.has(event.by);
  if (last?.toMs === null) {
    if (!isHeld) last.toMs = atMs;
  } else if (isHeld && own.length < HISTORY_LIMITS.listEntries) {
    own.push({ fromMs: atMs, toMs: null });
    heldTimes.set(event.task, own);
  }
}
