/**
 * The gateway of one engine: between agents and models, a door for each attempt. It meters and holds; who may spend
 * is the callers' to say, and how a request gets its answer is the transport's.
 */
import type { AgentError, Dialect } from '../contract/model.ts';
import type { Caller } from './caller.ts';
import {
  openEndpoint,
  type EndpointAt,
  type EndpointLimits,
  type AttemptEndpoint,
} from './attempt-endpoint.ts';
import { compilePasses } from './request/passes.ts';
import type { PriceOf } from './money/prices.ts';
import type { Passes } from './request/route.ts';
import type { Transport } from './transport.ts';

export interface GatewayOptions {
  transport: Transport;
  /** See `priceTable`. */
  priceOf: PriceOf;
  /** What agents can ask for, by the first part of the path. */
  providers: Readonly<Record<string, Dialect>>;
  /** What may be asked of a provider besides models: see `compilePasses`. */
  pass?: Readonly<Record<string, readonly string[]>>;
  /** Told why a request failed, as agents say it in their own ways or not at all. */
  onError?(caller: Caller, error: AgentError): void;
  limits?: Partial<EndpointLimits>;
}

export function openGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

export class Gateway implements AsyncDisposable {
  readonly #options: GatewayOptions;
  readonly #passes: Passes;
  readonly #doors = new Set<AttemptEndpoint>();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#passes = compilePasses(options.pass ?? {}, options.providers);
  }

  /** Whoever comes through it is `caller`. To be closed when the attempt ends. */
  async open(caller: Caller, at: EndpointAt): Promise<AttemptEndpoint> {
    const { transport, priceOf, providers, limits = {}, onError } = this.#options;
    const tell = (error: AgentError): void => onError?.(caller, error);
    const onClosed = (door: AttemptEndpoint): void => void this.#doors.delete(door);
    const door = await openEndpoint(
      { caller, transport, priceOf, providers, passes: this.#passes, limits, onError: tell, onClosed },
      at,
    );
    this.#doors.add(door);
    return door;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#doors].map((door) => door[Symbol.asyncDispose]()));
  }
}
