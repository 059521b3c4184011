/** The events of each task of a run: found once, and on from where it was. */
import type { Event, Recorded } from '../../src/contract/event.ts';
import type { RunAt } from '../film/run-at.ts';

interface Index {
  byTask: Map<string, number[]>;
  /** Questions name their task only when they are asked. */
  askedBy: Map<string, string>;
  next: number;
}

const NONE: readonly number[] = [];

/** By the first event of a run, which is the same for as long as the run is open. */
const indexes = new WeakMap<Recorded, Index>();

/** Their places among all events of the run; the same array, which grows. */
export function eventsOf({ events }: Pick<RunAt, 'events'>, task: string): readonly number[] {
  const [first] = events;
  if (!first) return NONE;
  let index = indexes.get(first);
  if (!index) indexes.set(first, (index = { byTask: new Map(), askedBy: new Map(), next: 0 }));
  for (; index.next < events.length; index.next++) {
    const { event } = events[index.next]!;
    const of = taskOf(event, index);
    if (of === undefined) continue;
    const known = index.byTask.get(of);
    if (known) known.push(index.next);
    else index.byTask.set(of, [index.next]);
  }
  let own = index.byTask.get(task);
  if (!own) index.byTask.set(task, (own = []));
  return own;
}

/** How many of them had happened when `count` of the run had. */
export function countBefore(own: readonly number[], count: number): number {
  let [low, high] = [0, own.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (own[middle]! < count) low = middle + 1;
    else high = middle;
  }
  return low;
}

function taskOf(event: Event, { askedBy }: Index): string | undefined {
  if (event.type === 'question.asked') askedBy.set(event.id, event.task);
  if (event.type === 'question.answered') return askedBy.get(event.id);
  return 'task' in event && typeof event.task === 'string' ? event.task : undefined;
}
