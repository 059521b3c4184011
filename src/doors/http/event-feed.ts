/** What is written in a repository, as it comes, for all readers together: one look at the journal serves them all. */
import type { FollowedEvent } from '../../contract/outputs.ts';
import { perform } from '../../operations/perform.ts';
import { EventFrame } from './event-frame.ts';

export interface FeedReader {
  push(frame: EventFrame): void;
  /** Nothing more comes. */
  fail(error: unknown): void;
}

const OWN = { kind: 'program', name: 'bosun-serve' } as const;

export class EventFeed implements Disposable {
  /** Where those who have seen all that was pushed have read to. */
  head = '0.0';
  readonly name: string;
  readonly directory: string;
  readonly #readers = new Set<FeedReader>();
  readonly #stop = new AbortController();
  #opened: Promise<void> | undefined;
  #isOver = false;

  constructor(name: string, directory: string) {
    this.name = name;
    this.directory = directory;
  }

  /** It could not be read, and never will be: whoever comes later needs another one. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Resolves once nothing is missed that is written from now on. */
  async join(reader: FeedReader): Promise<void> {
    this.#readers.add(reader);
    await (this.#opened ??= this.#open().catch((error: unknown) => {
      this.#isOver = true;
      throw error;
    }));
  }

  leave(reader: FeedReader): void {
    this.#readers.delete(reader);
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #open(): Promise<void> {
    const around = { cwd: this.directory, by: OWN, signal: this.#stop.signal };
    const { cursor } = await perform('events', { fromNow: true, limit: 1 }, { ...around, seen() {} });
    this.head = cursor;
    const seen = (events: FollowedEvent[]): void => this.#push(events);
    perform('events', { after: cursor, follow: true }, { ...around, seen }).catch((error: unknown) => {
      this.#isOver = true;
      for (const reader of this.#readers) reader.fail(error);
    });
  }

  #push(events: readonly FollowedEvent[]): void {
    for (const event of events) {
      const frame = new EventFrame(this.name, event);
      this.head = frame.cursor;
      for (const reader of this.#readers) reader.push(frame);
    }
  }
}
