/** Notices what a request waits for: a provider that sends nothing, or its own turn. It ends nothing. */
import type { WaitedFor } from './caller.ts';

const WAIT_LIMITS = {
  /** A person should see by then that it is not the agent that is slow. */
  silentMs: 10_000,
  /** Turns come quickly, unless there is a rate limit. */
  turnMs: 1000,
};

export class Waiting implements Disposable {
  readonly #tell: (waited: WaitedFor | undefined) => void;
  readonly #limits: typeof WAIT_LIMITS;
  #timer: NodeJS.Timeout | undefined;
  #told: WaitedFor | undefined;

  constructor(tell: (waited: WaitedFor | undefined) => void, limits = WAIT_LIMITS) {
    this.#tell = tell;
    this.#limits = limits;
    this.listen();
  }

  /** From now on something is expected. */
  listen(): void {
    if (this.#timer) return void this.#timer.refresh();
    this.#waitFor('provider', this.#limits.silentMs);
  }

  /** It is not sent for now: nobody can answer it. */
  pause(): void {
    this.heard();
    this.#waitFor('turn', this.#limits.turnMs);
  }

  /** Something came, or nothing is expected: whoever reads it may be slow. */
  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.#tell(undefined);
  }

  /** Something came, and more is expected: many times a second. */
  more(): void {
    if (this.#told !== undefined) this.heard();
    this.listen();
  }

  [Symbol.dispose](): void {
    this.heard();
  }

  #waitFor(waited: WaitedFor, ms: number): void {
    this.#timer = setTimeout(() => {
      this.#told = waited;
      this.#tell(waited);
    }, ms);
    this.#timer.unref();
  }
}

type Notice =
  { type: 'attempt.held'; by: WaitedFor; provider: string; text: string } | { type: 'attempt.released' };

/** Of several requests of an attempt that wait, only the first and the last are told of. */
export function noticeWaits(
  tell: (notice: Notice) => void,
): (provider: string, waited: WaitedFor | undefined) => void {
  let waiting = 0;
  return (provider, waited) => {
    waiting += waited ? 1 : -1;
    if (waited && waiting === 1)
      tell({ type: 'attempt.held', by: waited, provider, text: describe(provider, waited) });
    else if (!waited && waiting === 0) tell({ type: 'attempt.released' });
  };
}

function describe(provider: string, waited: WaitedFor): string {
  return waited === 'turn'
    ? `its next request to ${provider} waits for its turn`
    : `${provider} has sent nothing for ${WAIT_LIMITS.silentMs / 1000}s`;
}
