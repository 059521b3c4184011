/**
 * The waits of a run: each becomes a fact when its time has come, unless it is called off. While its task is paused no
 * time passes for it. It decides nothing.
 */
import { awakeMs, whenAwakeFor } from '../base/awake.ts';
import type { Fact } from '../contract/event.ts';
import { nodeOf, pauseOf } from '../schedule/state.ts';
import type { Loop } from './loop.ts';

interface Timer {
  task: string;
  fact: Fact;
  leftMs: number;
  /** While it runs. */
  running?: { sinceMs: number; callOff(): void } | undefined;
}

export class RunTimers {
  readonly #loop: Pick<Loop, 'submit' | 'state'>;
  readonly #timers = new Map<string, Timer>();

  constructor(loop: Pick<Loop, 'submit' | 'state'>) {
    this.#loop = loop;
  }

  /** In place of what was waited for under that key. */
  wait(key: string, task: string, leftMs: number, fact: Fact): void {
    this.callOff(key);
    const timer: Timer = { task, fact, leftMs };
    this.#timers.set(key, timer);
    if (!this.#isPaused(timer)) this.#start(key, timer);
  }

  callOff(key: string): void {
    this.#timers.get(key)?.running?.callOff();
    this.#timers.delete(key);
  }

  /** Something was paused, or goes on. */
  changed(): void {
    for (const [key, timer] of this.#timers) {
      const isPaused = this.#isPaused(timer);
      if (isPaused && timer.running) {
        timer.running.callOff();
        timer.leftMs = Math.max(0, timer.leftMs - (awakeMs() - timer.running.sinceMs));
        timer.running = undefined;
      } else if (!isPaused && !timer.running) this.#start(key, timer);
    }
  }

  close(): void {
    for (const { running } of this.#timers.values()) running?.callOff();
  }

  #start(key: string, timer: Timer): void {
    const callOff = whenAwakeFor(timer.leftMs, () => {
      this.#timers.delete(key);
      this.#loop.submit(timer.fact);
    });
    timer.running = { sinceMs: awakeMs(), callOff };
  }

  #isPaused({ task }: Timer): boolean {
    const { state } = this.#loop;
    return pauseOf(state, nodeOf(state, task)) !== undefined;
  }
}
