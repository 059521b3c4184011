/**
 * When to look for what others wrote: soon after a file has changed, or one beside it whose name begins with its name (as
 * a database has), where the system says so, and now and then in any case. Where it does not (there are too many watches, or none), far more often: an idle engine then
 * costs more. It reads nothing.
 */
import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

const LOOK_MS = 50;
/** An engine that is killed writes nothing. */
const IDLE_MS = 500;

export interface LookTimes {
  /** The least time between two looks: what many engines write wakes nobody more often than this. */
  lookMs?: number;
  /** Without a word from the system. */
  idleMs?: number;
  /** Where the system has none. */
  blindMs?: number;
}

export class JournalLooks implements Disposable {
  /** No look was made for a while: whoever waits should see whether all is well. */
  isDue = false;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #lookedMs = performance.now();
  readonly #lookMs: number;
  readonly #idleMs: number;
  readonly #blindMs: number;
  #dueMs: number;
  #timer: NodeJS.Timeout | undefined;
  #wake = (): void => {};

  constructor(
    file: string,
    signal: AbortSignal,
    { lookMs = LOOK_MS, idleMs = IDLE_MS, blindMs = lookMs }: LookTimes = {},
  ) {
    this.#signal = signal;
    this.#lookMs = lookMs;
    this.#idleMs = idleMs;
    this.#blindMs = blindMs;
    this.#dueMs = performance.now() + idleMs;
    signal.addEventListener('abort', this.#stop, { once: true });
    try {
      const name = path.basename(file);
      this.#watcher = watch(path.dirname(file), { persistent: false }, (_, changed) => {
        if (changed === null || changed.startsWith(name)) this.#note();
      });
      this.#watcher.on('error', () => this.#watchNoMore());
    } catch {
      // There are too many watches already, or the system has none.
    }
  }

  /** Resolves when it is time for the next look, or nobody wants one any more. */
  async next(): Promise<void> {
    if (this.#signal.aborted) return;
    const nowMs = performance.now();
    this.#lookedMs = nowMs;
    const nextMs = this.#watcher ? this.#lookMs : this.#blindMs;
    const soonMs = this.#watcher && !this.#hasChanged ? this.#dueMs - nowMs : nextMs;
    this.#hasChanged = false;
    await this.#pause(Math.min(soonMs, this.#dueMs - nowMs));
    this.isDue ||= performance.now() >= this.#dueMs;
    if (this.isDue) this.#dueMs = performance.now() + this.#idleMs;
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#stop);
    this.#stop();
  }

  /** What comes right after a look waits for its turn. */
  #note(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#wake, Math.max(0, this.#lookedMs + this.#lookMs - performance.now()));
  }

  #watchNoMore(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#wake();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(resolve, Math.max(0, ms));
    });
  }

  readonly #stop = (): void => {
    clearTimeout(this.#timer);
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#wake();
  };
}
