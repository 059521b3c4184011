/**
 * The output of one task, read from the server and then as it comes, for as long as somebody looks. It goes on after the
 * last event that it has, so that nothing is missed and nothing comes twice. A browser has six connections to a server,
 * whatever the number of its tabs: two of those that are seen follow what comes, the others ask again and again.
 *
 *   reading ──▶ following ──(hidden, cut off, the run has ended)──▶ resting ──(seen again, after a while)──▶ reading
 */
import type { EventOf, Recorded } from '../../src/contract/event.ts';
import { linesOf, request, runPath } from './api.ts';
import type { Output, OutputEntry } from './output.ts';

const AGAIN_MS = 1000;
/** Of a run that has ended, or that nobody drives: whether somebody went on with it. */
const LOOK_MS = 5000;
/** The server says nothing of having told all that there was before; what comes at once was there. */
const QUIET_MS = 120;
/** How often a tab asks that does not follow. */
const ASK_MS = 700;
/** A followed log that says nothing for so long is asked for again, after the last of what it said. */
const SILENT_MS = 20_000;
const SILENT = 'nothing was heard';
const FOLLOWERS = ['bosun output 1', 'bosun output 2'];

export class OutputStore {
  readonly #path: string;
  readonly #task: string;
  readonly #listeners = new Set<() => void>();
  #entries: OutputEntry[] = [];
  #lastSeq = 0;
  #isComplete = false;
  #problem: string | undefined;
  #now: Output = { entries: this.#entries, count: 0, isComplete: false };
  #holders = 0;
  #reading: AbortController | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #silent: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;

  constructor(path: string, task: string) {
    this.#path = path;
    this.#task = task;
  }

  readonly now = (): Output => this.#now;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  hold(): () => void {
    this.#holders++;
    document.addEventListener('visibilitychange', this.#look);
    this.#look();
    return () => {
      this.#holders--;
      this.#look();
      if (this.#holders === 0) document.removeEventListener('visibilitychange', this.#look);
    };
  }

  readonly #look = (): void => {
    const isWanted = this.#holders > 0 && document.visibilityState === 'visible';
    clearTimeout(this.#again);
    if (isWanted && !this.#reading) void this.#read();
    if (isWanted) return;
    this.#reading?.abort();
    this.#reading = undefined;
  };

  async #read(): Promise<void> {
    const stop = (this.#reading = new AbortController());
    let waitMs = LOOK_MS;
    const leave = await mayFollow();
    try {
      const query = {
        task: this.#task,
        types: 'attempt.output',
        ...(leave && { follow: true }),
        ...(this.#lastSeq > 0 && { afterSeq: this.#lastSeq }),
      };
      const asked = request(this.#path, { query, signal: stop.signal });
      this.#hush(stop);
      const silent = leave && this.#endWhenSilent(stop);
      for await (const lines of linesOf(await asked)) {
        silent?.();
        for (const line of lines) this.#take(JSON.parse(line) as Recorded, stop);
      }
      this.#completed();
      if (!leave) waitMs = ASK_MS;
    } catch (error) {
      if (stop.signal.reason === SILENT) waitMs = 0;
      else if (stop.signal.aborted) return;
      else waitMs = AGAIN_MS;
      if (waitMs > 0) {
        this.#problem = error instanceof Error ? error.message : String(error);
        this.#changed();
      }
    } finally {
      clearTimeout(this.#silent);
      leave?.();
    }
    if (this.#reading !== stop) return;
    this.#reading = undefined;
    this.#again = setTimeout(this.#look, waitMs);
  }

  /** Of a connection that died nothing is heard: it is begun again. What it gives is to be called when something came. */
  #endWhenSilent(stop: AbortController): () => void {
    const wait = (): void => {
      clearTimeout(this.#silent);
      this.#silent = setTimeout(() => stop.abort(SILENT), SILENT_MS);
    };
    wait();
    return wait;
  }

  #take({ seq, atMs, event }: Recorded, stop: AbortController): void {
    if (!this.#isComplete) this.#hush(stop);
    if (this.#problem !== undefined) this.#problem = undefined;
    if (seq <= this.#lastSeq || stop.signal.aborted) return;
    this.#lastSeq = seq;
    if (event.type !== 'attempt.output' || event.task !== this.#task) return; // of a task within
    this.#entries.push(entryOf(seq, atMs, event));
    this.#changed();
  }

  #hush(stop: AbortController): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      if (!stop.signal.aborted && this.#problem === undefined) this.#completed();
    }, QUIET_MS);
  }

  #completed(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#changed();
  }

  /** Once for each picture, however much has come. */
  #changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#now = {
        entries: this.#entries,
        count: this.#entries.length,
        isComplete: this.#isComplete,
        ...(this.#problem !== undefined && { problem: this.#problem }),
      };
      for (const listener of this.#listeners) listener();
    });
  }
}

/** What it gives lets the next tab follow; undefined where enough of them do. */
async function mayFollow(): Promise<(() => void) | undefined> {
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return undefined; // the page came over a plain connection from elsewhere
  for (const name of FOLLOWERS) {
    const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
    const held = locks.request(name, { ifAvailable: true }, (lock) =>
      lock ? new Promise<void>((done) => resolve(done)) : resolve(undefined),
    );
    held.catch(() => resolve(undefined));
    const leave = await promise;
    if (leave) return leave;
  }
  return undefined;
}

/** One for each task that is looked at; what was read is gone when it is not. */
export function openOutput(repository: string, run: string, task: string): OutputStore {
  return new OutputStore(`${runPath(repository, run)}/log`, task);
}

function entryOf(
  seq: number,
  atMs: number,
  { attempt, stream, text, base64, droppedBytes }: EventOf<'attempt.output'>,
): OutputEntry {
  return {
    seq,
    atMs,
    attempt,
    stream,
    text: text ?? decoded(base64 ?? ''),
    ...(droppedBytes !== undefined && { droppedBytes }),
  };
}

/** What is no UTF-8 has a mark in its place. */
function decoded(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
}
