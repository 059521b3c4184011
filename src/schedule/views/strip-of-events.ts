/** A run as a strip of bars, from those of its events alone that say who was at work when: no fold, so it is quick. */
import type { Recorded } from '../../contract/event.ts';
import type { Strip } from '../../contract/strip.ts';
import { noteHeldTime, type HeldTimes } from '../history/held-times.ts';
import { askedWithin, layBars, type AskedTime, type Bar } from './strip.ts';

/** All others may be left out. */
export const STRIP_EVENTS = [
  'attempt.started',
  'attempt.held',
  'attempt.released',
  'attempt.finished',
  'attempt.answered',
  'access.answered',
  'question.asked',
  'question.answered',
] as const;

interface AttemptBar extends Bar {
  isQueued?: boolean;
}

export interface StripOptions {
  fromMs: number;
  /** Its end, where it has ended. */
  toMs: number | undefined;
  barsMax: number;
}

export function stripOfEvents(events: readonly Recorded[], { fromMs, toMs, barsMax }: StripOptions): Strip {
  const attempts = new Map<string, AttemptBar[]>();
  const questions = new Map<string, AskedTime & { task: string; id: string; isNo?: boolean }>();
  const last = (task: string, n: number): AttemptBar | undefined =>
    attempts.get(task)?.findLast(({ attempt }) => attempt === n);
  const close = (id: string, answer: string | null, atMs: number): void => {
    const open = questions.get(id);
    if (open?.toMs === null) Object.assign(open, { toMs: atMs, isNo: answer === 'no' });
  };
  const heldTimes: HeldTimes = new Map();
  let count = 0;
  for (const { event, atMs } of events)
    switch (event.type) {
      case 'attempt.started': {
        const { task, attempt } = event;
        const own = attempts.get(task) ?? [];
        attempts.set(task, own);
        own.push({ task, label: task, attempt, fromMs: atMs, toMs: null, end: null, asked: [] });
        break;
      }
      case 'attempt.held':
        noteHeldTime(heldTimes, event, atMs);
        if (event.by === 'slot') Object.assign(last(event.task, event.attempt) ?? {}, { isQueued: true });
        break;
      case 'attempt.released': {
        noteHeldTime(heldTimes, event, atMs);
        const bar = last(event.task, event.attempt);
        if (bar?.isQueued) Object.assign(bar, { fromMs: atMs, isQueued: false });
        break;
      }
      case 'attempt.finished': {
        noteHeldTime(heldTimes, event, atMs);
        const bar = last(event.task, event.attempt);
        if (!bar || bar.end !== null) break;
        if (bar.isQueued) bar.fromMs = atMs;
        Object.assign(bar, { toMs: atMs, end: event.outcome.kind });
        break;
      }
      case 'question.asked':
        questions.set(`${event.id} ${(count += 1)}`, {
          id: event.id,
          task: event.task,
          fromMs: atMs,
          toMs: null,
        });
        break;
      case 'question.answered':
      case 'attempt.answered':
      case 'access.answered':
        for (const [key, { id }] of questions) if (id === event.id) close(key, event.answer, atMs);
    }
  const lastMs = toMs ?? events.at(-1)?.atMs ?? fromMs;
  const bars = [...attempts.values()].flat().map((bar): Bar => {
    const { task, label, attempt, fromMs: sinceMs, toMs: untilMs, end } = bar;
    const own = [...questions.values()].filter((question) => question.task === task);
    const asked = askedWithin([...own, ...(heldTimes.get(task) ?? [])], {
      startedAtMs: sinceMs,
      endedAtMs: untilMs,
    });
    return { task, label, attempt, fromMs: sinceMs, toMs: untilMs, end, asked };
  });
  const steps = [...questions.values()].filter(({ id, task }) => id === task && !attempts.has(task));
  const asks = steps.map(({ task, fromMs: sinceMs, toMs: untilMs, isNo }): Bar => {
    const waited = { fromMs: sinceMs, toMs: untilMs };
    const end = untilMs === null ? null : isNo ? 'failed' : 'done';
    return { task, label: task, attempt: 0, ...waited, end, asked: [waited] };
  });
  return layBars([...bars, ...asks], { fromMs, toMs: Math.max(lastMs, fromMs), barsMax });
}
