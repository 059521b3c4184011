/**
 * When to look at the journal for what others wrote: soon after its files have changed, where the system says so, and
 * twice a second in any case. Where it does not (there are too many watches, or none), twenty times a second: an idle
 * engine then costs more. It reads nothing.
 */
import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

/** The least time between two looks: what many engines write wakes nobody more often than this. */
const LOOK_MS = 50;
/** Without a word from the system; an engine that is killed writes nothing. */
const IDLE_MS = 500;

export class JournalLooks implements Disposable {
  /** No look was made for a while: whoever waits should see whether all is well. */
  isDue = false;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #lookedMs = performance.now();
  #dueMs = performance.now() + IDLE_MS;
  #timer: NodeJS.Timeout | undefined;
  #wake = (): void => {};

  constructor(file: string, signal: AbortSignal) {
    this.#signal = signal;
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
    const soonMs = this.#watcher && !this.#hasChanged ? this.#dueMs - nowMs : LOOK_MS;
    this.#hasChanged = false;
    await this.#pause(Math.min(soonMs, this.#dueMs - nowMs));
    this.isDue ||= performance.now() >= this.#dueMs;
    if (this.isDue) this.#dueMs = performance.now() + IDLE_MS;
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
    this.#timer = setTimeout(this.#wake, Math.max(0, this.#lookedMs + LOOK_MS - performance.now()));
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
