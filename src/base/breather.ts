/** Lets everything else have its turn while a long piece of work goes on without waiting for anything. */
import { setImmediate } from 'node:timers/promises';

const TURN_MS = 4;

export class Breather {
  #sinceMs = performance.now();

  /** Whether it is time to breathe: for work whose every piece is too small to wait after. */
  get isDue(): boolean {
    return performance.now() - this.#sinceMs >= TURN_MS;
  }

  /** To be asked often: it is free until a turn has lasted long enough. */
  async breathe(): Promise<void> {
    if (!this.isDue) return;
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}
