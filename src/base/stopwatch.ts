/** Counts how long something was under way, however often and however many at once. */
import { awakeMs } from './awake.ts';

export class Stopwatch {
  #running = 0;
  #sinceMs = 0;
  #totalMs = 0;

  get elapsedMs(): number {
    return this.#totalMs + (this.#running > 0 ? awakeMs() - this.#sinceMs : 0);
  }

  async during<T>(work: Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#sinceMs = awakeMs();
    try {
      return await work;
    } finally {
      if (--this.#running === 0) this.#totalMs += awakeMs() - this.#sinceMs;
    }
  }
}
