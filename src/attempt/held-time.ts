/**
 * How long an attempt had to wait, which is no time of its own: its time limits move by as much. What bosun holds back
 * (a budget, a pause) counts whole. While a person is asked, only idle time counts: none while a request to a model is
 * under way, and less by what the attempt's processes use of the processor, so that an agent that asks and works on
 * gains nothing. It stops nothing itself.
 */
import { awakeMs } from '../base/awake.ts';
import { Stopwatch } from '../base/stopwatch.ts';

/** Of one attempt, for all its questions. */
const IDLE_SECONDS_MAX = 86_400;

export class HeldTime {
  readonly #backHeld = new Stopwatch();
  readonly #cpuMs: () => number | undefined;
  readonly #idleMsMax: number;
  /** Questions that are open, and requests to models that are under way. */
  #asked = 0;
  #requests = 0;
  /** Since when the agent may be idle, and what it had used of the processor then. */
  #since: { ms: number; cpuMs: number | undefined } | undefined;
  #idleMs = 0;

  /** `cpuMs` is what the attempt's processes have used up to now; undefined where nobody can see that. */
  constructor(cpuMs: () => number | undefined, idleMsMax = IDLE_SECONDS_MAX * 1000) {
    this.#cpuMs = cpuMs;
    this.#idleMsMax = idleMsMax;
  }

  get elapsedMs(): number {
    return this.#backHeld.elapsedMs + Math.min(this.#idleMsMax, this.#idleMs + this.#idleSinceMs());
  }

  /** While this is under way it is bosun that keeps the agent from going on. */
  holdBack<T>(work: Promise<T>): Promise<T> {
    return this.#backHeld.during(work);
  }

  /** While this is under way a person is asked; the agent may wait for it, or not. */
  async ask<T>(answer: Promise<T>): Promise<T> {
    this.#change(() => this.#asked++);
    try {
      return await answer;
    } finally {
      this.#change(() => this.#asked--);
    }
  }

  /** The agent asks a model; to be called once more when that is over. */
  request(): () => void {
    this.#change(() => this.#requests++);
    return () => this.#change(() => this.#requests--);
  }

  #change(change: () => void): void {
    this.#idleMs += this.#idleSinceMs();
    change();
    const mayBeIdle = this.#asked > 0 && this.#requests === 0;
    this.#since = mayBeIdle ? { ms: awakeMs(), cpuMs: this.#cpuMs() } : undefined;
  }

  /** Nothing where nobody can see whether it works. */
  #idleSinceMs(): number {
    const cpuMs = this.#since && this.#cpuMs();
    if (this.#since?.cpuMs === undefined || cpuMs === undefined) return 0;
    const usedMs = Math.max(0, cpuMs - this.#since.cpuMs); // another program may have begun
    return Math.max(0, awakeMs() - this.#since.ms - usedMs);
  }
}
