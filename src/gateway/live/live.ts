/**
 * The way to the providers themselves: with the right key, patiently. What can be tried again is tried again here, so
 * that agents need not; nothing is once a byte of the answer was given on. It reads neither requests nor answers.
 */
import { begin, responseFor, type FailedAnswer } from './answer.ts';
import {
  type HttpAnswer,
  Connections,
  httpExchange,
  isDistrust,
  upstreamOf,
  type Upstream,
} from './http-exchange.ts';
import { credentialsFor, refusedLogin, type Credentials } from './credentials.ts';
import { isStrayPath, returnedHeaders } from './headers.ts';
import { hintMs, isQuotaSpent } from './retry-hints.ts';
import { backoffMs, hungUp, KeyLane, type Turn, type Waiter } from './key-lane.ts';
import type { KeyPauses } from '../../store/machine/pauses.ts';
import type { Provider, Providers } from '../keys/providers.ts';
import { TransportError, type ModelRequest, type ModelResponse, type Transport } from '../transport.ts';

export const LIVE_LIMITS = {
  /** Times that a request is sent where the provider fails on its side, or cannot be reached: some 20 s. */
  triesMax: 7,
  /** Of an answer that is an error; what is longer is cut. */
  complaintBytesMax: 256 * 1024,
  /** Keys and logins that are remembered while nobody uses them. */
  idleLanesMax: 64,
};

type LiveLimits = typeof LIVE_LIMITS;

const FAILING = new Set([408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);
const PAUSING = new Set([429, 503, 529]);

/** What a person may want to see: why nothing seems to happen. */
export interface ProviderWait {
  provider: string;
  /** Who is known to wait; all requests with the key do where it is a rate limit. */
  tasks: Waiter[];
  untilMs: number;
  why: string;
}

export interface LiveOptions {
  providers: Providers;
  onWait?: (wait: ProviderWait) => void;
  /** Pauses of a key that all engines share. */
  pausesOf?: (key: string) => KeyPauses | undefined;
  /** For proxies. */
  env?: NodeJS.ProcessEnv;
  nowMs?: () => number;
  random?: () => number;
  limits?: Partial<LiveLimits>;
}

export function liveTransport(options: LiveOptions): LiveTransport {
  return new LiveTransport(options);
}

/** One request, through all of its tries. */
interface Sending {
  request: ModelRequest;
  provider: Provider;
  upstream: Upstream;
  signal: AbortSignal;
  turn: Turn;
  failures: number;
  failingSinceMs?: number;
  hasNewKey?: true;
}

/** What came of one try. */
type Tried =
  | { response: ModelResponse }
  /** As soon as the key may be used again. */
  | 'again'
  | { failure: FailedAnswer };

class LiveTransport implements Transport, AsyncDisposable {
  readonly #providers: Providers;
  readonly #onWait: (wait: ProviderWait) => void;
  readonly #pausesOf: LiveOptions['pausesOf'];
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #connections: Connections;
  readonly #upstreams = new Map<string, Upstream>();
  /** Of logins, which may be for another address than a key. */
  readonly #loginUpstreams = new Map<string, Upstream>();
  readonly #lanes = new Map<string, KeyLane>();
  readonly #limits: LiveLimits;
  readonly #closing = new AbortController();

  constructor({ providers, onWait, pausesOf, env, nowMs, random, limits }: LiveOptions) {
    this.#limits = { ...LIVE_LIMITS, ...limits };
    this.#providers = providers;
    this.#onWait = onWait ?? (() => {});
    this.#pausesOf = pausesOf;
    this.#nowMs = nowMs ?? Date.now;
    this.#random = random ?? Math.random;
    this.#connections = new Connections(env ?? process.env);
    for (const { name, baseUrl, idleMs, login } of providers.values()) {
      this.#upstreams.set(name, upstreamOf(name, baseUrl, idleMs));
      if (login) this.#loginUpstreams.set(name, upstreamOf(name, login.baseUrl, idleMs));
    }
  }

  async send(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse> {
    const provider = this.#providers.get(request.provider);
    const upstream = this.#upstreams.get(request.provider);
    if (!provider || !upstream) throw unknownProvider(request.provider, this.#providers);
    if (isStrayPath(request.path))
      throw new TransportError('bad-request', 400, `"${request.path.slice(0, 200)}" is not a path of an API`);
    const turn = { run: request.run, task: request.task, signal };
    const sending: Sending = { request, provider, upstream, signal, turn, failures: 0 };
    for (;;) {
      const credentials = await credentialsFor(provider, request, signal);
      const tried = await this.#try(sending, credentials);
      if (tried === 'again') continue;
      if ('response' in tried) return tried.response;
      const { failure } = tried;
      const waitMs = backoffMs(sending.failures++, this.#random) / 2;
      sending.failingSinceMs ??= this.#nowMs();
      const isPatient = this.#nowMs() + waitMs < sending.failingSinceMs + provider.patienceMs;
      if (sending.failures >= this.#limits.triesMax || !isPatient)
        return responseFor(failure, credentials, sending.failures);
      if ('error' in failure && failure.error.mayCost) await request.beforeAgain?.();
      const goOn = request.pause?.();
      await this.#pause(waitMs, failure, request, signal);
      await goOn?.();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const lane of this.#lanes.values()) lane[Symbol.dispose]();
    this.#connections[Symbol.dispose]();
  }

  /** Sends it once, when it may go. Throws where no other try makes sense. */
  async #try(sending: Sending, credentials: Credentials): Promise<Tried> {
    const { provider, signal, turn, request } = sending;
    const { outgoing, held } = credentials;
    const upstream = (held && this.#loginUpstreams.get(provider.name)) ?? sending.upstream;
    const lane = this.#lane(provider, credentials.shared);
    await enter(lane, turn, request);
    let isBegun = false;
    try {
      if (this.#closing.signal.aborted) throw closed();
      const sentMs = this.#nowMs();
      const call = { upstream, method: request.method, body: request.body, ...outgoing };
      const answer = await httpExchange(call, this.#connections, signal);
      const { status } = answer;
      if (status === 401 && !sending.hasNewKey && credentials.source?.forget()) {
        sending.hasNewKey = true;
        answer.close();
        return 'again';
      }
      if (status === 401 && held) {
        answer.close();
        throw refusedLogin(provider, held);
      }
      if (status >= 400) return await this.#judge(answer, sending, credentials, sentMs);
      const response = await begin(answer, credentials);
      if ('failure' in response) return response;
      isBegun = true;
      answer.onClosed(() => lane.leave());
      lane.succeeded();
      return { response };
    } catch (error) {
      if (this.#closing.signal.aborted) throw closed();
      if (!(error instanceof TransportError) || signal.aborted) throw error;
      if (error.kind !== 'network' && error.kind !== 'timeout') throw error;
      if (isDistrust((error.cause as NodeJS.ErrnoException | undefined)?.code)) throw error;
      return { failure: { error } };
    } finally {
      if (!isBegun) lane.leave();
    }
  }

  async #judge(
    answer: HttpAnswer,
    sending: Sending,
    credentials: Credentials,
    sentMs: number,
  ): Promise<Tried> {
    const { status } = answer;
    const { name } = sending.provider;
    const headers = returnedHeaders(answer.headers, credentials.scrub);
    const failure = { status, headers, body: await answer.rest(this.#limits.complaintBytesMax) };
    const isPassing = (status === 429 && !isQuotaSpent(failure)) || FAILING.has(status);
    if (!isPassing || headers['x-should-retry'] === 'false')
      return { response: responseFor(failure, credentials) };
    const hint = hintMs(failure, this.#nowMs());
    if (status !== 429 && (hint === undefined || !PAUSING.has(status))) return { failure };
    const why = status === 429 ? `${name} rate limit` : `${name} is overloaded`;
    const objection = this.#lane(sending.provider, credentials.shared).refused(
      sending.turn,
      sentMs,
      hint,
      why,
    );
    if (!objection) return 'again';
    if (status === 429) throw objection;
    return { response: responseFor(failure, credentials) };
  }

  #lane(provider: Provider, credential: string): KeyLane {
    const { name, concurrencyMax, patienceMs } = provider;
    const id = `${name} ${credential}`; // a hash would hide nothing here: whoever reads our memory has the key
    let lane = this.#lanes.get(id);
    if (lane) return lane;
    if (this.#lanes.size >= this.#limits.idleLanesMax)
      for (const [other, { isIdle }] of this.#lanes) if (isIdle) this.#lanes.delete(other);
    lane = new KeyLane({
      provider: name,
      concurrencyMax,
      patienceMs,
      nowMs: this.#nowMs,
      random: this.#random,
      onPause: (pause) => this.#onWait({ provider: name, ...pause }),
      pauses: this.#pausesOf?.(`${provider.baseUrl} ${credential}`),
    });
    this.#lanes.set(id, lane);
    return lane;
  }

  async #pause(
    waitMs: number,
    failure: FailedAnswer,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { provider, run, task } = request;
    const why = 'error' in failure ? failure.error.message : `${provider} answered ${failure.status}`;
    this.#onWait({ provider, tasks: [{ run, task }], untilMs: this.#nowMs() + waitMs, why });
    const closing = this.#closing.signal;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        closing.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      signal.addEventListener('abort', end);
      closing.addEventListener('abort', end);
    });
    if (signal.aborted) throw hungUp(signal);
    if (closing.aborted) throw closed();
  }
}

/** Whoever waits for a turn keeps no money from others, and whoever waits for money keeps no turn from others. */
async function enter(lane: KeyLane, turn: Turn, request: ModelRequest): Promise<void> {
  for (;;) {
    const entering = lane.enter(turn);
    if (!entering) return;
    const goOn = request.pause?.();
    await entering;
    const paying = goOn?.();
    if (!paying) return;
    lane.leave();
    await paying;
  }
}

function closed(): TransportError {
  return new TransportError('network', 503, 'the gateway was closed');
}

function unknownProvider(name: string, providers: Providers): TransportError {
  const known = [...providers.keys()].join(', ');
  return new TransportError(
    'bad-request',
    404,
    `there is no provider "${name.slice(0, 64)}"; there are ${known}; add it to providers in your configuration`,
  );
}
