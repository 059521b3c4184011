/**
 * Where requests to models wait while their task is paused, and tell that they do. Whatever else has to be asked before a
 * request may go is asked by others. It decides nothing: what is paused is in the state.
 */
import type { Admission } from '../contract/model.ts';
import { pauseOf, type Node } from '../schedule/state.ts';
import type { AgentSlot } from './agent-slot.ts';
import type { Loop } from './loop.ts';

interface Asking {
  node: Node;
  attempt: number;
  /** Given back while it waits. */
  slot: AgentSlot | undefined;
  /** The agent has gone. */
  signal: AbortSignal;
}

export class PauseGate {
  readonly #loop: Pick<Loop, 'state' | 'note'>;
  readonly #waiting = new Set<() => void>();
  /** How many requests of an attempt wait. */
  readonly #holds = new Map<string, number>();

  constructor(loop: Pick<Loop, 'state' | 'note'>) {
    this.#loop = loop;
  }

  /** Resolves with what `admit` says at a moment at which the task is not paused. */
  async admit(asking: Asking, admit: () => Promise<Admission>): Promise<Admission> {
    for (;;) {
      if (this.#isPaused(asking)) await this.#wait(asking);
      else await this.#slot(asking); // a request that gave up while it was paused left without one
      if (asking.signal.aborted) return { isAdmitted: false, message: 'the agent has gone' };
      const admission = await admit();
      if (!admission.isAdmitted) return admission;
      if (!this.#isPaused(asking)) return this.#guarded(asking, admission);
      admission.settle(); // it was not sent
    }
  }

  /** Something was paused, or goes on. */
  changed(): void {
    for (const wake of Array.from(this.#waiting)) wake();
  }

  /** A request that waits for its provider is not sent into a pause either: it is admitted anew. */
  #guarded(asking: Asking, admission: Extract<Admission, { isAdmitted: true }>): Admission {
    const { pause } = admission;
    if (!pause) return admission;
    return {
      ...admission,
      pause: () => {
        const reserve = pause();
        return () => !this.#isPaused(asking) && reserve();
      },
    };
  }

  async #wait(asking: Asking): Promise<void> {
    const { slot, signal } = asking;
    using _ = this.#hold(asking);
    while (this.#isPaused(asking) && !signal.aborted) {
      slot?.giveBack();
      await this.#change(signal);
      if (this.#isPaused(asking)) continue;
      await this.#slot(asking);
    }
  }

  /** At once where the agent has one. */
  async #slot({ node, attempt, slot, signal }: Asking): Promise<void> {
    const onWait = (text: string): void =>
      this.#loop.note({ type: 'attempt.held', task: node.id, attempt, by: 'pause', text });
    await slot?.have(onWait, signal);
  }

  /** Several requests of an attempt may wait at once. */
  #hold({ node, attempt }: Asking): Disposable {
    const key = `${node.id}@${attempt}`;
    const names = { task: node.id, attempt };
    const count = this.#holds.get(key) ?? 0;
    this.#holds.set(key, count + 1);
    const { by } = pauseOf(this.#loop.state, node)!;
    if (count === 0)
      this.#loop.note({ type: 'attempt.held', ...names, by: 'pause', text: `paused by ${by}` });
    return {
      [Symbol.dispose]: () => {
        const left = this.#holds.get(key)! - 1;
        if (left > 0) this.#holds.set(key, left);
        else {
          this.#holds.delete(key);
          this.#loop.note({ type: 'attempt.released', ...names });
        }
      },
    };
  }

  #isPaused({ node }: Asking): boolean {
    return pauseOf(this.#loop.state, node) !== undefined;
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
