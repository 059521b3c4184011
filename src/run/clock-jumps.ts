/** How far the wall clock ran away from the time that the engine was awake: it slept, or somebody set the clock. */
import { awakeMs } from '../base/awake.ts';

/** Clocks differ by less of their own accord. */
const JUMP_MS_MIN = 2000;

export class ClockJumps {
  #wallMs: number;
  readonly #awakeMs = awakeMs();

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }

  /** What was not yet taken into account, by a reading of the wall clock; negative where it was set back. */
  pendingMs(wallMs: number): number {
    const ms = Math.round(wallMs - this.#wallMs - (awakeMs() - this.#awakeMs));
    return Math.abs(ms) < JUMP_MS_MIN ? 0 : ms;
  }

  take(wallMs: number): number {
    const ms = this.pendingMs(wallMs);
    this.#wallMs += ms;
    return ms;
  }
}
