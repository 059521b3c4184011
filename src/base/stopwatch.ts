/** Counts how long something was under way, however often and however many at once. */

export class Stopwatch {
  #running = 0;
  #sinceMs = 0;
  #totalMs = 0;

  get elapsedMs(): number {
    return this.#totalMs + (this.#running > 0 ? performance.now() - this.#sinceMs : 0);
  }

  async during<T>(work: Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#sinceMs = performance.now();
    try {
      return await work;
    } finally {
      if (--this.#running === 0) this.#totalMs += performance.now() - this.#sinceMs;
    }
  }
}
