/** The waits of a run: each becomes a fact when its time has come, unless it is called off. It decides nothing. */
import { whenAwakeFor } from '../base/awake.ts';
import type { Fact } from '../contract/event.ts';
import type { Loop } from './loop.ts';

export class RunTimers {
  readonly #loop: Pick<Loop, 'submit'>;
  readonly #timers = new Map<string, () => void>();

  constructor(loop: Pick<Loop, 'submit'>) {
    this.#loop = loop;
  }

  /** In place of what was waited for under that key. */
  wait(key: string, delayMs: number, fact: Fact): void {
    this.callOff(key);
    this.#timers.set(
      key,
      whenAwakeFor(delayMs, () => this.#loop.submit(fact)),
    );
  }

  callOff(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  close(): void {
    for (const callOff of this.#timers.values()) callOff();
  }
}
