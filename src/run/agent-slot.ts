/**
 * The slot of one agent, which it gives back for as long as it is paused, and has again before it goes on. It decides
 * nothing: what is paused is in the journal.
 */
import type { SlotOptions } from '../store/machine/slots.ts';

type OnWait = SlotOptions['onWait'];
type Take = (options: Pick<SlotOptions, 'onWait' | 'signal'>) => Promise<Disposable>;

export class AgentSlot implements Disposable {
  readonly #take: Take;
  readonly #over = new AbortController();
  #slot: Disposable | undefined;
  #taking: Promise<void> | undefined;

  constructor(take: Take) {
    this.#take = take;
  }

  /** Resolves once it has one; whoever asks meanwhile waits for the same, at most until `signal` is aborted. */
  async have(onWait: OnWait, signal: AbortSignal): Promise<void> {
    if (this.#slot || signal.aborted) return;
    this.#taking ??= this.#get(onWait);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const leave = (): void => resolve();
    signal.addEventListener('abort', leave, { once: true });
    await Promise.race([this.#taking, gone]);
    signal.removeEventListener('abort', leave);
  }

  giveBack(): void {
    this.#slot?.[Symbol.dispose]();
    this.#slot = undefined;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.giveBack();
  }

  async #get(onWait: OnWait): Promise<void> {
    const { signal } = this.#over;
    this.#slot = await this.#take({ onWait, signal });
    this.#taking = undefined;
    if (signal.aborted) this.giveBack();
  }
}
