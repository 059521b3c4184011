/**
 * The one stream of events of all repositories, for every tab of a browser: read from the server, handed on in batches,
 * and begun again by itself where it stood. Whoever holds it, a worker or a tab, hands on what it tells.
 *
 *   reading ──(cut off, or 15 s of silence)──▶ lost ──(heard again)──▶ reading
 *                                               └──(nobody knows this browser)──▶ locked
 */
import type { Recorded } from '../../src/contract/event.ts';
import { placed } from './place.ts';

/** An event, and whose it is. Its place in its run is its `seq`. */
export type Streamed = Recorded & { repository: string };

/** What a hub says, at least every five seconds. */
export interface Told {
  /** The same for as long as nothing was missed. */
  epoch: string;
  /** Where it stands in each repository: `shop:12.7,docs:3.1`. Of those that it does not name it may miss some yet. */
  id: string;
  events: readonly Streamed[];
  /** Nothing is heard of the server since then. */
  lostSinceMs?: number;
  isLocked?: boolean;
}

export interface HubOptions {
  tell(told: Told): void;
  /** Goes on from where another hub stood. */
  from?: Pick<Told, 'epoch' | 'id'> | undefined;
  /** Timers of a hidden tab come late: then every event is handed on at once. */
  isHidden?(): boolean;
}

export const SILENT_MS = 15_000;
/** What comes right after one batch waits for so long; what comes after a while, only for what came with it. */
const BATCH_MS = 50;
const SOON_MS = 4;
const LOOK_MS = 1000;
const AGAIN_MS = [250, 500, 1000, 2000];
/** Where a repository could not be read, all are asked for again after this. */
const PROBLEM_MS = 10_000;
/** After so many refusals it begins anew, as if it had read nothing. */
const REFUSED_MAX = 4;

export class Hub {
  readonly #options: HubOptions;
  #epoch: string;
  #id: string;
  #source: EventSource | undefined;
  #batch: Streamed[] = [];
  #heardAtMs = Date.now();
  #handedOnMs = 0;
  #lostSinceMs: number | undefined;
  #failures = 0;
  #refused = 0;
  #isLocked = false;
  #isStopped = false;
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#epoch = options.from?.epoch ?? newEpoch();
    this.#id = options.from?.id ?? '';
  }

  start(): this {
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#open();
    return this;
  }

  /** For good: another one goes on. */
  stop(): void {
    clearInterval(this.#looking);
    this.#isStopped = true;
    this.#source?.close();
    this.#source = undefined;
  }

  /** For whoever comes later. */
  get now(): Told {
    return {
      epoch: this.#epoch,
      id: this.#id,
      events: [],
      ...(this.#lostSinceMs !== undefined && { lostSinceMs: this.#lostSinceMs }),
      ...(this.#isLocked && { isLocked: true }),
    };
  }

  /** Whoever sits here was let in again. */
  unlock(): void {
    if (!this.#isLocked) return;
    this.#isLocked = false;
    this.#open();
  }

  #open(): void {
    if (this.#isStopped) return;
    if (this.#id === '') this.#epoch = newEpoch();
    const after = this.#id === '' ? '' : `&after=${encodeURIComponent(this.#id)}`;
    const source = new EventSource(placed(`/api/events?withoutOutput=true${after}`));
    this.#source = source;
    this.#heardAtMs = Date.now();
    source.addEventListener('open', () => this.#heard(source, ''));
    source.addEventListener('message', ({ data, lastEventId }: MessageEvent<string>) => {
      const event = JSON.parse(data) as Streamed;
      this.#batch.push(event);
      this.#heard(source, lastEventId);
      if (this.#batch.length > 1) return;
      if (this.#options.isHidden?.()) queueMicrotask(() => this.#handOn());
      else setTimeout(() => this.#handOn(), Math.max(SOON_MS, this.#handedOnMs + BATCH_MS - Date.now()));
    });
    source.addEventListener('beat', ({ lastEventId }: MessageEvent<string>) => {
      this.#refused = 0;
      this.#heard(source, lastEventId);
      this.#handOn();
    });
    source.addEventListener('problem', ({ data }: MessageEvent<string>) => {
      this.#forget((JSON.parse(data) as { repository: string }).repository);
      setTimeout(() => source === this.#source && this.#again(), PROBLEM_MS);
    });
    source.addEventListener('error', () => {
      if (source !== this.#source) return;
      if (source.readyState === EventSource.CLOSED) this.#refused += 1;
      void this.#lose(Date.now());
    });
  }

  #heard(source: EventSource, id: string): void {
    if (source !== this.#source) return;
    this.#heardAtMs = Date.now();
    if (id !== '') this.#id = id;
    if (this.#lostSinceMs === undefined) return;
    this.#lostSinceMs = undefined;
    this.#failures = 0;
    this.#handOn();
  }

  #handOn(): void {
    const events = this.#batch;
    this.#batch = [];
    if (this.#isStopped) return;
    if (events.length > 0) this.#handedOnMs = Date.now();
    this.#options.tell({ ...this.now, events });
  }

  #look(): void {
    if (this.#isLocked) return;
    if (this.#source && Date.now() - this.#heardAtMs >= SILENT_MS) void this.#lose(this.#heardAtMs);
    else if (this.#lostSinceMs !== undefined) this.#handOn(); // whoever listens knows that it tries
  }

  async #lose(sinceMs: number): Promise<void> {
    this.#source?.close();
    this.#source = undefined;
    this.#lostSinceMs ??= sinceMs;
    if (this.#refused >= REFUSED_MAX) [this.#id, this.#refused] = ['', 0];
    this.#handOn();
    const waitMs = AGAIN_MS[Math.min(this.#failures++, AGAIN_MS.length - 1)]!;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#isLocked = this.#refused > 0 && (await isStranger());
    if (this.#isLocked) this.#handOn();
    else this.#open();
  }

  /** Its journal may be another one: whoever reads in it is told when the stream stands there anew. */
  #forget(repository: string): void {
    const places = this.#id.split(',').filter((each) => !each.startsWith(`${repository}:`));
    this.#id = places.join(',');
  }

  #again(): void {
    this.#source?.close();
    this.#open();
  }
}

/** The stream of a browser does not say why it was refused. */
async function isStranger(): Promise<boolean> {
  try {
    const answer = await fetch(placed('/api/session'), { credentials: 'same-origin', redirect: 'error' });
    return answer.status === 401;
  } catch {
    return false;
  }
}

function newEpoch(): string {
  return `${Date.now()} ${Math.random()}`; // crypto has none for addresses without TLS
}
