/**
 * Server-sent events: every open stream, its beat, and its end. A reader that does not keep up is told and dropped, so
 * that it costs nobody else anything; it comes back with `Last-Event-ID` and gets what it has missed.
 */
import { spellActor, type Actor } from '../../contract/actor.ts';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import type { Reply, Sink } from './call.ts';
import { EventFeed } from './event-feed.ts';
import type { EventFrame } from './event-frame.ts';
import { EventReader, Stalled, type Wanted } from './event-reader.ts';
import { HttpProblem, problemReply } from './problem.ts';

const BEAT_MS = 5000;
const STREAMS_MAX = 1500;
/** Of one caller: whoever takes all they may leaves room for others. */
const OWN_STREAMS_MAX = 1200;
/** What a reader may have been sent and not taken. */
const BEHIND_BYTES_MAX = 1024 * 1024;
const STALLED_MS = 30_000;
/** An event with a name, since a page is not told of comments. */
const BEAT = 'event: beat\ndata: {}\n\n';
/** How soon a browser comes back. */
const OPENING = Buffer.from('retry: 1000\n\n');
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no', // a proxy that collects what it passes on would hold events back
};

export interface Watched {
  repositories: readonly ServedRepository[];
  wanted: Omit<Wanted, 'after'>;
  /** Where the reader stands in each of them, by name. */
  after: ReadonlyMap<string, string>;
  /** Ids name the repositories, of which there may be any number. */
  isOfAll: boolean;
}

interface Asked {
  watched: Watched;
  by: Actor;
  /** Whether its token and its repositories are still what they were. */
  isAllowed(): boolean;
}

interface OpenStream extends Pick<Asked, 'isAllowed'> {
  /** Whose it is. */
  name: string;
  /** The log of a run, in place of its events. */
  isLog?: boolean;
  sink: Sink;
  end(): void;
  beat(): void;
  /** Undefined where it is of one repository. */
  follow?(repositories: readonly ServedRepository[]): void;
}

export class EventStreams {
  readonly #feeds = new Map<string, EventFeed>();
  readonly #open = new Set<OpenStream>();
  readonly #beatMs: number;
  #beat: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ beatMs = BEAT_MS }: { beatMs?: number } = {}) {
    this.#beatMs = beatMs;
  }

  get counts(): { events: number; logs: number } {
    const logs = [...this.#open].filter(({ isLog }) => isLog).length;
    return { events: this.#open.size - logs, logs };
  }

  answer(asked: Asked): Reply {
    this.#requireRoom(asked);
    return { status: 200, headers: HEADERS, body: (sink) => this.#serve(asked, sink) };
  }

  /** Another answer that stays open: it is counted, looked after and ended as streams are. */
  holdOpen(
    asked: Omit<Asked, 'watched'>,
    reply: Reply,
    pour: (sink: Sink, signal: AbortSignal) => Promise<void>,
  ): Reply {
    this.#requireRoom(asked);
    const body = async (sink: Sink): Promise<void> => {
      const over = new AbortController();
      const { by, isAllowed } = asked;
      const end = (): void => over.abort();
      using _ = this.#enter({ sink, name: spellActor(by), isLog: true, isAllowed, end, beat() {} });
      await pour(sink, AbortSignal.any([over.signal, sink.signal])).catch((error: unknown) => {
        if (!over.signal.aborted) throw error;
      });
    };
    return { ...reply, body };
  }

  #requireRoom({ by }: Pick<Asked, 'by'>): void {
    const name = spellActor(by);
    const own = [...this.#open].filter((each) => each.name === name).length;
    if (this.#isClosed || this.#open.size >= STREAMS_MAX)
      throw tooMany(`${STREAMS_MAX} streams are open, which is the most: try again later`);
    if (own >= OWN_STREAMS_MAX)
      throw tooMany(`${name} has ${OWN_STREAMS_MAX} streams open, which is the most: close some`);
  }

  /** Those that are served now: streams of everything begin with new ones, and leave those that are gone. */
  served(repositories: readonly ServedRepository[]): void {
    for (const { follow } of this.#open) follow?.(repositories);
  }

  /** Ends all of them at once. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of this.#open) end();
    for (const feed of this.#feeds.values()) feed[Symbol.dispose]();
    this.#feeds.clear();
    clearInterval(this.#beat);
  }

  async #serve({ watched, by, isAllowed }: Asked, sink: Sink): Promise<void> {
    const over = Promise.withResolvers<void>();
    let isOver = sink.signal.aborted;
    const end = (): void => {
      isOver = true;
      over.resolve();
    };
    sink.signal.addEventListener('abort', end, { once: true });
    using undo = new DisposableStack();
    undo.defer(() => sink.signal.removeEventListener('abort', end));
    const readers = new Map<string, { reader: EventReader; leave(): void }>();
    undo.defer(() => readers.forEach(({ leave }) => leave()));
    // Whoever has it misses nothing when it comes back, even where nothing has happened yet.
    const beat = (): void => sink.write(watched.isOfAll ? `id: ${idOf(readers)}\n${BEAT}` : BEAT);
    const write = (frame: EventFrame, reader: EventReader): void => {
      if (isOver) return;
      if (watched.isOfAll) sink.write(`id: ${idOf(readers)}\n`);
      sink.write(watched.isOfAll ? frame.data : frame.whole);
      if (sink.pendingBytes <= BEHIND_BYTES_MAX) return;
      drop(sink, reader);
      end();
    };
    const begunAnew = (reader: EventReader): void => {
      const id = watched.isOfAll ? idOf(readers) : reader.cursor;
      const data = JSON.stringify({ repository: reader.name });
      if (!isOver) sink.write(`id: ${id}\nevent: reset\ndata: ${data}\n\n`);
    };
    let isOpened = false;
    const open = (): void => {
      if (!isOpened && !isOver) sink.write(OPENING);
      isOpened = true;
    };
    let behind = 0;
    const read = async (reader: EventReader, left: Promise<void>): Promise<void> => {
      behind += 1;
      try {
        await reader.catchUp(open).finally(() => {
          if (--behind === 0 && isOpened && !isOver) beat(); // from now on nothing is missed
        });
        await Promise.race([reader.failed, left, over.promise]);
      } catch (error) {
        if (isOver || readers.get(reader.name)?.reader !== reader) return;
        if (!watched.isOfAll && !isOpened) throw error; // nothing was sent yet: it can be told as any other problem
        if (error instanceof Stalled) drop(sink, reader);
        else sink.write(told(error, reader));
        if (!watched.isOfAll || error instanceof Stalled) return end();
        readers.get(reader.name)!.leave(); // from now on it has no place: ids must not say that it has
        readers.delete(reader.name);
      }
    };
    const begin = ({ name, directory }: ServedRepository, after?: string): Promise<void> => {
      const feed = this.#feed(name, directory);
      const wanted = { ...watched.wanted, ...(after !== undefined && { after }) };
      const reader = new EventReader({
        feed,
        name,
        wanted,
        by,
        sink,
        write,
        begunAnew,
        stalledMs: STALLED_MS,
      });
      const left = Promise.withResolvers<void>();
      const leave = (): void => {
        this.#leave(feed, reader);
        left.resolve();
      };
      readers.set(name, { reader, leave });
      return read(reader, left.promise);
    };
    const follow = (repositories: readonly ServedRepository[]): void => {
      const served = new Map(repositories.map((each) => [each.name, each]));
      for (const [name, { reader, leave }] of readers) {
        if (served.get(name)?.directory === reader.directory) continue;
        readers.delete(name);
        leave();
      }
      for (const each of repositories) if (!readers.has(each.name)) void begin(each);
    };
    undo.use(
      this.#enter({ sink, name: spellActor(by), isAllowed, end, beat, ...(watched.isOfAll && { follow }) }),
    );
    const begun = Promise.all(watched.repositories.map((each) => begin(each, watched.after.get(each.name))));
    if (readers.size === 0) {
      open();
      beat();
    }
    await Promise.race([over.promise, begun.then(() => over.promise)]);
  }

  #feed(name: string, directory: string): EventFeed {
    const key = keyOf(name, directory);
    const known = this.#feeds.get(key);
    if (known && !known.isOver) return known;
    const feed = new EventFeed(name, directory);
    this.#feeds.set(key, feed);
    return feed;
  }

  /** Nobody looks at a journal for nobody. */
  #leave(feed: EventFeed, reader: EventReader): void {
    reader[Symbol.dispose]();
    if (feed.readerCount > 0) return;
    feed[Symbol.dispose]();
    const key = keyOf(feed.name, feed.directory);
    if (this.#feeds.get(key) === feed) this.#feeds.delete(key);
  }

  #enter(stream: OpenStream): Disposable {
    this.#open.add(stream);
    this.#beat ??= setInterval(() => this.#beatAll(), this.#beatMs);
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(stream);
        if (this.#open.size > 0) return;
        clearInterval(this.#beat);
        this.#beat = undefined;
      },
    };
  }

  #beatAll(): void {
    for (const { sink, isAllowed, end, beat } of this.#open) {
      if (!isAllowed()) end();
      else if (sink.pendingBytes === 0) beat();
    }
  }
}

/** A repository may come back under another name. */
function keyOf(name: string, directory: string): string {
  return `${name}\0${directory}`;
}

function tooMany(detail: string): HttpProblem {
  return new HttpProblem(503, 'busy', detail, { headers: { 'retry-after': '5' } });
}

/** Where the reader stands in each of them that it has begun with. */
function idOf(readers: ReadonlyMap<string, { reader: EventReader }>): string {
  const begun = [...readers.values()].filter(({ reader }) => reader.hasPlace);
  return begun.map(({ reader: { name, cursor } }) => `${name}:${cursor}`).join(',');
}

/** In its stream, since it may read that yet. */
function drop(sink: Sink, { cursor }: EventReader): void {
  const said = {
    reason: `you are more than ${BEHIND_BYTES_MAX} bytes behind, or read nothing for ${STALLED_MS} ms: connect again with Last-Event-ID`,
    at: cursor,
  };
  sink.write(`event: dropped\ndata: ${JSON.stringify(said)}\n\n`);
}

function told(error: unknown, { name }: EventReader): string {
  const { body } = problemReply(error, () => {});
  return `event: problem\ndata: ${JSON.stringify({ repository: name, problem: JSON.parse(String(body)) as unknown })}\n\n`;
}
