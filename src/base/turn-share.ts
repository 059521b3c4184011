/**
 * Counts what one source hands on before everybody else has a turn: for many small things that others take up at once,
 * or only after whoever hands them on. It waits for nothing itself.
 */
import { setImmediate } from 'node:timers/promises';

const ITEMS_MAX = 16;
const BYTES_MAX = 64 * 1024;

export class TurnShare {
  #items = 0;
  #bytes = 0;

  /** To be awaited after each item where it gives something: then the share is used up. */
  take(bytes: number): Promise<void> | undefined {
    this.#items += 1;
    this.#bytes += bytes;
    if (this.#items < ITEMS_MAX && this.#bytes < BYTES_MAX) return undefined;
    this.#items = 0;
    this.#bytes = 0;
    return setImmediate();
  }
}
