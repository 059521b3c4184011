/**
 * How a request gets its answer: from the provider (live.ts), from the provider and onto a cassette, or from a
 * cassette alone. Types only. What stands above (attempt-endpoint.ts) holds requests and meters answers; what stands below retries.
 */
import type { AgentErrorKind, Dialect } from '../contract/model.ts';

export interface ModelRequest {
  /** Which attempt asks. */
  run: string;
  task: string;
  attempt: number;
  provider: string;
  dialect: Dialect;
  method: string;
  /** What follows the provider's base URL, with its query; begins with a slash. */
  path: string;
  /** As the agent sent them, lower case, without what belongs to the connection; may hold its own login. */
  headers: Record<string, string>;
  body: Buffer;
  /** To be awaited before the request is sent once more, where the provider may charge for the try before. */
  beforeAgain?(): Promise<void>;
  /**
   * To be called where nothing can be sent for now, so that others may spend what is reserved for this one; and what
   * it gives before it is sent: at once, or, where it gives a promise, when there is money again.
   */
  pause?(): () => Promise<void> | undefined;
}

export interface ModelResponse {
  status: number;
  /** Lower case, without what belongs to the connection. */
  headers: Record<string, string>;
  /** Throws a TransportError where it breaks off. */
  body: AsyncIterable<Buffer>;
  /** The agent's own login was used, not a key of ours. */
  ownLogin?: true;
  /** A cassette answered, not the provider. */
  replayed?: true;
  /** Where the key is from that the provider rejected, such as "ANTHROPIC_API_KEY". */
  rejectedKey?: string;
}

export interface Transport {
  /** Throws a TransportError; what the provider answers, also an error of its own, is a response. */
  send(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
}

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly kind: AgentErrorKind;
  /** What the agent is told. */
  readonly status: number;
  /** The provider got the whole request and refused nothing: it may charge for an answer that never arrived. */
  mayCost = false;

  constructor(kind: AgentErrorKind, status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
  }
}
