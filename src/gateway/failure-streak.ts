/** How the last requests of one attempt ended: where a provider keeps failing, no more are sent. It sends nothing. */
import type { AgentError } from '../contract/model.ts';
import { TransportError } from './transport.ts';

/** So often in a row: agents that try again by themselves would do it for ever. Each was tried several times by us. */
const FAILURES_MAX = 3;

/** Requests that failed on the provider's side, one right after the other. */
export class FailureStreak {
  #failures = 0;
  #last: AgentError | undefined;

  failed(error: AgentError): void {
    if (!['overloaded', 'network', 'timeout'].includes(error.kind)) return;
    this.#failures++;
    this.#last = error;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Throws where it is of no use to ask again. */
  check(): void {
    if (this.#failures < FAILURES_MAX || !this.#last) return;
    const { kind, message, status = 502 } = this.#last;
    throw new TransportError(kind, status, message);
  }
}
