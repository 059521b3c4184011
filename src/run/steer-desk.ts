/**
 * What people say to the agents of a run, until they have read it. Each agent that can be spoken to is given what its task
 * was told and no agent has read, also by another attempt or engine; it counts as read once a model has answered a
 * request that was made with it. It decides nothing.
 *
 *   said (journal) ──▶ handed to the agent's runtime ──▶ in the agent's hands ──▶ a model answered ──▶ read (journal)
 */
import type { Admission, RequestEstimate } from '../contract/model.ts';
import type { Steered } from '../runtime/runtime.ts';
import { nodeOf } from '../schedule/state.ts';
import type { Loop } from './loop.ts';

interface Listening {
  listener: Steered;
  /** What it was handed, by number, and whether the agent has it. */
  handed: Map<number, boolean>;
}

export class SteerDesk {
  readonly #loop: Pick<Loop, 'state' | 'note'>;
  /** By task: it has one attempt at a time. */
  readonly #listening = new Map<string, Set<Listening>>();

  constructor(loop: Pick<Loop, 'state' | 'note'>) {
    this.#loop = loop;
  }

  /** The agent of the task can be spoken to, as long as the returned function is not called. */
  listen(task: string, listener: Steered): () => void {
    const own: Listening = { listener, handed: new Map() };
    const all = this.#listening.get(task) ?? new Set();
    this.#listening.set(task, all.add(own));
    this.tell(task);
    return () => void all.delete(own);
  }

  /** Something was said to it. */
  tell(task: string): void {
    for (const { listener, handed } of this.#listening.get(task) ?? [])
      for (const { number, text } of nodeOf(this.#loop.state, task).steers) {
        if (handed.has(number)) continue;
        handed.set(number, false);
        listener(text, { given: () => handed.set(number, true) });
      }
  }

  /** A request of the agent goes to a model: with the answer, the agent has read what it had then. */
  watch(task: string, attempt: number, { hasTools }: RequestEstimate, admission: Admission): Admission {
    const steers = this.#inHand(task);
    if (!admission.isAdmitted || !hasTools || steers.length === 0) return admission;
    return {
      ...admission,
      settle: (use) => {
        if (use) this.#loop.note({ type: 'attempt.steered', task, attempt, steers });
        admission.settle(use);
      },
    };
  }

  #inHand(task: string): number[] {
    const unread = new Set(nodeOf(this.#loop.state, task).steers.map(({ number }) => number));
    const handed = [...(this.#listening.get(task) ?? [])].flatMap((own) => [...own.handed]);
    return handed.flatMap(([number, isGiven]) => (isGiven && unread.has(number) ? [number] : []));
  }
}
