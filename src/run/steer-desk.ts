/**
 * What people say to the agents of a run, until they have read it. Each agent that can be spoken to is given what its task
 * was told and no agent has read, also by another attempt or engine; it counts as read once a model has answered a
 * request that was made with it. It decides nothing.
 *
 *   said (journal) ──▶ handed to the agent's runtime ──▶ in the agent's hands ──▶ a model answered ──▶ read (journal)
 */
import type { Admission, RequestEstimate } from '../contract/model.ts';
import type { Steer } from '../runtime/runtime.ts';
import { nodeOf } from '../schedule/state.ts';
import type { Loop } from './loop.ts';

interface Listening {
  listener: Steer;
  /** What it was handed, by number, and whether the agent has it. */
  handed: Map<number, boolean>;
}

export class SteerDesk {
  readonly #loop: Pick<Loop, 'state' | 'note'>;
  /** By task: it has one attempt at a time. */
  readonly #listening = new Map<string, Set<Listening>>();
  /** By task: what was noted as read, which the state shows a little later. */
  readonly #read = new Map<string, Set<number>>();

  constructor(loop: Pick<Loop, 'state' | 'note'>) {
    this.#loop = loop;
  }

  /** The agent of the task can be spoken to, as long as the returned function is not called. */
  listen(task: string, listener: Steer): () => void {
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

  /**
   * A request of the agent waits to go to a model: with the answer, the agent has read what it had when it asked. Two
   * requests may be under way with the same words: the first answer counts.
   */
  async watch(
    task: string,
    attempt: number,
    { hasTools }: RequestEstimate,
    admit: () => Promise<Admission>,
  ): Promise<Admission> {
    const inHand = this.#inHand(task);
    const admission = await admit();
    if (!admission.isAdmitted || !hasTools || inHand.length === 0) return admission;
    return {
      ...admission,
      settle: (use) => {
        if (use) this.#noteRead(task, attempt, inHand);
        admission.settle(use);
      },
    };
  }

  #noteRead(task: string, attempt: number, inHand: number[]): void {
    const read = this.#read.get(task) ?? new Set();
    const steers = inHand.filter((number) => !read.has(number));
    if (steers.length === 0) return;
    this.#read.set(task, new Set([...read, ...steers]));
    this.#loop.note({ type: 'attempt.steered', task, attempt, steers });
  }

  #inHand(task: string): number[] {
    const unread = new Set(nodeOf(this.#loop.state, task).steers.map(({ number }) => number));
    const handed = [...(this.#listening.get(task) ?? [])].flatMap((own) => [...own.handed]);
    return handed.flatMap(([number, isGiven]) => (isGiven && unread.has(number) ? [number] : []));
  }
}
