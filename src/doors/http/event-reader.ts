/**
 * One reader's way through the events of a repository: first what was written before, page by page as fast as it reads,
 * then what comes. Nothing is missed and nothing comes twice, since it goes by where it stands.
 *
 *   behind ──(a page)──▶ behind ──(nothing more, and the feed has not moved meanwhile)──▶ live
 */
import type { Actor } from '../../contract/actor.ts';
import type { FollowedEvent } from '../../contract/outputs.ts';
import { perform } from '../../operations/perform.ts';
import type { Sink } from './call.ts';
import type { EventFeed, FeedReader } from './event-feed.ts';
import { EventFrame, isAfter, startOf } from './event-frame.ts';

const PAGE_EVENTS = 100;

export interface Wanted {
  run?: string;
  withoutOutput?: boolean;
  /** Where it has read to; the beginning where it is not given. */
  after?: string;
  fromNow?: boolean;
}

interface ReaderOptions {
  feed: EventFeed;
  /** The name of its repository. */
  name: string;
  wanted: Wanted;
  by: Actor;
  sink: Sink;
  write(frame: EventFrame, reader: EventReader): void;
  /** It begins anew, since where it stood is a place in another journal. */
  begunAnew(reader: EventReader): void;
  /** It has taken nothing of a page for too long. */
  stalledMs: number;
}

export class Stalled extends Error {}

export class EventReader implements FeedReader, Disposable {
  readonly name: string;
  cursor: string;
  readonly #options: ReaderOptions;
  #isLive = false;
  #isPlaced: boolean;
  /** Whether this is still to be told. */
  #beginsAnew = false;
  readonly #failed = Promise.withResolvers<never>();

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.name = options.name;
    this.cursor = options.wanted.after ?? '0.0';
    this.#isPlaced = options.wanted.after !== undefined || !options.wanted.fromNow;
    this.#failed.promise.catch(() => {});
  }

  /** Whether `cursor` says where it stands; else it has not found out yet where now is. */
  get hasPlace(): boolean {
    return this.#isPlaced;
  }

  get directory(): string {
    return this.#options.feed.directory;
  }

  /** Rejects where nothing more can be read. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Resolves when it is live; `onFirst` is told when it is clear that there is something to read. */
  async catchUp(onFirst: () => void): Promise<void> {
    const { feed, sink, wanted, stalledMs } = this.#options;
    await feed.join(this);
    if (wanted.fromNow && wanted.after === undefined) {
      this.cursor = feed.head;
      this.#isPlaced = true;
      this.#isLive = wanted.run === undefined; // of a run it is not known yet whether there is such a one
      if (this.#isLive) return onFirst();
    }
    if (wanted.after !== undefined) this.#requireJournal(feed.head);
    let isFirst = true;
    while (!sink.signal.aborted) {
      const { head } = feed;
      const count = await this.#page();
      if (isFirst) onFirst();
      this.#tellAnew();
      isFirst = false;
      if (count === 0 && feed.head === head) {
        this.#isLive = true;
        return;
      }
      if (count > 0) await taken(sink, stalledMs);
    }
  }

  /** Numbers of another journal say nothing in this one: what they seem to leave out was never read. */
  #requireJournal(head: string): void {
    const start = startOf(head);
    if (startOf(this.cursor) === startOf('')) return; // it does not say of which
    if (startOf(this.cursor) === start && !isAfter(this.cursor, head)) return;
    this.cursor = start;
    this.#beginsAnew = true;
  }

  #tellAnew(): void {
    if (!this.#beginsAnew) return;
    this.#beginsAnew = false;
    this.#options.begunAnew(this);
  }

  push(frame: EventFrame): void {
    if (this.#isLive && isAfter(frame.cursor, this.cursor)) this.#take(frame);
  }

  fail(error: unknown): void {
    this.#failed.reject(error);
  }

  [Symbol.dispose](): void {
    this.#options.feed.leave(this);
  }

  async #page(): Promise<number> {
    const { feed, by, sink, wanted } = this.#options;
    const { run, withoutOutput } = wanted;
    let count = 0;
    await perform(
      'events',
      {
        after: this.cursor,
        limit: PAGE_EVENTS,
        ...(run !== undefined && { run }),
        ...(withoutOutput && { withoutOutput }),
      },
      {
        cwd: feed.directory,
        by,
        seen: (events: FollowedEvent[]) => {
          count += events.length;
          if (sink.signal.aborted) return;
          for (const event of events) this.#take(new EventFrame(this.name, event));
        },
      },
    );
    return count;
  }

  #take(frame: EventFrame): void {
    this.#tellAnew();
    const { run, withoutOutput } = this.#options.wanted;
    this.cursor = frame.cursor;
    if (run !== undefined && frame.run !== run) return;
    if (!(withoutOutput && frame.isOutput)) this.#options.write(frame, this);
  }
}

async function taken(sink: Sink, stalledMs: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Stalled()), stalledMs);
  try {
    await Promise.race([sink.drained(), promise]);
  } finally {
    clearTimeout(timer);
  }
}
