/** Lets whoever submits a fact wait until it is in the journal. It decides nothing, and leaves nobody waiting. */
import { BosunError } from '../contract/errors.ts';
import type { Fact } from '../contract/event.ts';
import type { Loop } from './loop.ts';

export class Landings {
  readonly #loop: Pick<Loop, 'submit' | 'isOver'>;
  readonly #landed = new WeakMap<Fact, () => void>();
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(loop: Pick<Loop, 'submit' | 'isOver'>) {
    this.#loop = loop;
  }

  /** Resolves once it is in the journal; rejects where nothing is recorded any more. */
  land(fact: Fact): Promise<void> {
    if (this.#loop.isOver) return Promise.reject(runIsOver());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(reject);
    this.act(fact, resolve);
    return promise.finally(() => this.#waiting.delete(reject));
  }

  /** The same for whoever acts in the very turn in which it is recorded. */
  act(fact: Fact, landed: () => void): void {
    this.#landed.set(fact, landed);
    this.#loop.submit(fact);
  }

  /** A fact is in the journal. */
  heard(fact: Fact): void {
    this.#landed.get(fact)?.();
  }

  /** Nothing will be recorded any more. */
  close(): void {
    for (const reject of this.#waiting) reject(runIsOver());
  }
}

export function runIsOver(): BosunError {
  return new BosunError('wrong-state', 'the run is over');
}
