/** Lets everything else have its turn while a long piece of work goes on without waiting for anything. */
import { setImmediate } from 'node:timers/promises';

const TURN_MS = 4;

export class Breather {
  #sinceMs = performance.now();

  /** To be asked often: it is free until a turn has lasted long enough. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#sinceMs < TURN_MS) return;
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}
