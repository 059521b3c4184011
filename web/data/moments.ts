/**
 * A run as it was at any moment: its events folded again up to there. On from the moment that was looked at last where
 * that is earlier, else from the copy of the fold before it, or from the beginning.
 */
import type { Recorded } from '../../src/contract/event.ts';
import { RunFold } from './run-fold.ts';

/** To fold so many takes less time than anybody notices. */
const COPY_EVENTS = 10_000;
/** Of a run with more tasks a copy takes longer, and more memory, than it saves. */
const COPIED_TASKS_MAX = 3000;

/** So many at most; past them every other one goes, and new ones are made half as often. */
const COPIES_MAX = 24;

export class Moments {
  readonly #events: readonly Recorded[];
  /** The oldest first; each with how many events are in it. */
  #copies: { count: number; fold: RunFold }[] = [];
  #every = COPY_EVENTS;
  #last: { count: number; fold: RunFold } | undefined;

  /** The same list for good, to which others come. */
  constructor(events: readonly Recorded[]) {
    this.#events = events;
  }

  /** To be told of the fold that reads all of them, after each. */
  passed(live: RunFold): void {
    const count = this.#events.length;
    if (count % this.#every !== 0 || live.state!.nodes.size > COPIED_TASKS_MAX) return;
    this.#copies.push({ count, fold: live.copy() });
    if (this.#copies.length < COPIES_MAX) return;
    this.#every *= 2;
    this.#copies = this.#copies.filter((copy) => copy.count % this.#every === 0);
  }

  /** The fold of the first `count` of them, until it is asked for another. */
  at(count: number): RunFold {
    const isNear = this.#last && this.#last.count <= count && count - this.#last.count < COPY_EVENTS;
    if (!isNear) {
      const copy = this.#copies.findLast((each) => each.count <= count);
      const isNearer = this.#last && this.#last.count <= count && this.#last.count >= (copy?.count ?? 0);
      if (!isNearer) this.#last = { count: copy?.count ?? 0, fold: copy?.fold.copy() ?? new RunFold() };
    }
    const last = this.#last!;
    for (; last.count < count; last.count++) last.fold.add(this.#events[last.count]!);
    return last.fold;
  }
}
