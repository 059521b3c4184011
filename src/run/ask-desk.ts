/**
 * Where attempts of a run ask a person something and wait for the answer. It makes facts of what is asked and tells
 * the answer once it is in the journal. It decides nothing, and never leaves anybody waiting.
 */
import type { Ask, EventOf } from '../contract/event.ts';
import type { Loop } from './loop.ts';

export class AskDesk {
  readonly #loop: Pick<Loop, 'submit' | 'isOver'>;
  readonly #waiting = new Map<string, ((answer: 'yes' | 'no') => void)[]>();

  constructor(loop: Pick<Loop, 'submit' | 'isOver'>) {
    this.#loop = loop;
  }

  /** Whoever asks the same while it is open gets the same answer. */
  ask(task: string, attempt: number, ask: Ask): Promise<'yes' | 'no'> {
    if (this.#loop.isOver) return Promise.resolve('no');
    const { promise, resolve } = Promise.withResolvers<'yes' | 'no'>();
    const waiting = this.#waiting.get(ask.id);
    if (waiting) waiting.push(resolve);
    else {
      this.#waiting.set(ask.id, [resolve]);
      this.#loop.submit({ type: 'attempt.asked', task, attempt, ...ask });
    }
    return promise;
  }

  answered({ id, answer }: Pick<EventOf<'attempt.answered'>, 'id' | 'answer'>): void {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const resolve of waiting) resolve(answer);
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const id of this.#waiting.keys()) this.answered({ id, answer: 'no' });
  }
}
