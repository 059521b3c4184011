/**
 * The way to the providers themselves: with the right key, patiently. What can be tried again is tried again here, so
 * that agents need not; nothing is once a byte of the answer was given on. It reads neither requests nor answers.
 */
import { Answer, Connections, exchange, type Upstream } from './live-exchange.ts';
import { isStrayPath, loginOf, returnedHeaders, withKey, withLogin, type Outgoing } from './live-headers.ts';
import { withoutSecret } from './live-scrub.ts';
import { fingerprint } from './keys.ts';
import { hintMs, isQuotaSpent } from './patience-hints.ts';
import { backoffMs, hungUp, Patience, type Turn } from './patience.ts';
import type { Provider, Providers } from './providers.ts';
import { TransportError, type ModelRequest, type ModelResponse, type Transport } from './transport.ts';

export const LIVE_LIMITS = {
  /** Times that a request is sent where the provider fails on its side, or cannot be reached. */
  triesMax: 5,
  /** Of an answer that is not given on at once. */
  complaintBytesMax: 64 * 1024,
  /** Keys and logins that are remembered while nobody uses them. */
  idleLanesMax: 64,
};

const FAILING = new Set([500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);
const PAUSING = new Set([429, 503, 529]);

/** What a person may want to see: why nothing seems to happen. */
export interface Wait {
  provider: string;
  /** Absent where all requests with the key wait. */
  task?: string;
  untilMs: number;
  why: string;
}

export interface LiveOptions {
  providers: Providers;
  onWait?: (wait: Wait) => void;
  /** For proxies. */
  env?: NodeJS.ProcessEnv;
  nowMs?: () => number;
  random?: () => number;
}

export function liveTransport(options: LiveOptions): LiveTransport {
  return new LiveTransport(options);
}

/** What a request is sent with, and whose limits it shares. */
interface Credentials {
  outgoing: Outgoing;
  /** What must not come back. */
  secret: string | undefined;
  isLogin: boolean;
  lane: Patience;
}

/** What came of one try, where it is not given on at once. */
type Failure = { error: TransportError } | { status: number; headers: Record<string, string>; body: Buffer };

class LiveTransport implements Transport, AsyncDisposable {
  readonly #providers: Providers;
  readonly #onWait: (wait: Wait) => void;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #connections: Connections;
  readonly #upstreams = new Map<string, Upstream>();
  readonly #lanes = new Map<string, Patience>();
  readonly #closing = new AbortController();

  constructor({ providers, onWait, env, nowMs, random }: LiveOptions) {
    this.#providers = providers;
    this.#onWait = onWait ?? (() => {});
    this.#nowMs = nowMs ?? Date.now;
    this.#random = random ?? Math.random;
    this.#connections = new Connections(env ?? process.env);
    for (const { name, baseUrl, idleMs } of providers.values())
      this.#upstreams.set(name, { provider: name, url: new URL(baseUrl), idleMs });
  }

  async send(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse> {
    const provider = this.#providers.get(request.provider);
    const upstream = this.#upstreams.get(request.provider);
    if (!provider || !upstream) throw unknownProvider(request.provider, this.#providers);
    if (isStrayPath(request.path))
      throw new TransportError('bad-request', 400, `"${request.path.slice(0, 200)}" is not a path of an API`);
    const { method, body } = request;
    const turn: Turn = { task: request.task, signal };
    let failures = 0;
    let failingSinceMs: number | undefined;
    let hasNewKey = false;
    for (;;) {
      const credentials = await this.#credentials(provider, request);
      const { lane, secret, outgoing } = credentials;
      await lane.enter(turn);
      const sentMs = this.#nowMs();
      let failure: Failure;
      let isLeaving = true;
      try {
        const answer = await exchange({ upstream, method, body, ...outgoing }, this.#connections, signal);
        const { status } = answer;
        if (status === 401 && !credentials.isLogin && !hasNewKey && provider.key?.forget()) {
          hasNewKey = true;
          answer.close();
          continue;
        }
        if (status !== 429 && !FAILING.has(status)) {
          const response = await begin(answer, credentials);
          isLeaving = false;
          answer.onClosed(() => lane.leave());
          if (status < 400) lane.succeeded();
          return response;
        }
        const headers = returnedHeaders(answer.response.headers, secret);
        failure = { status, headers, body: await answer.rest(LIVE_LIMITS.complaintBytesMax) };
        const hint = hintMs(failure, this.#nowMs());
        const isFinal = headers['x-should-retry'] === 'false' || isQuotaSpent(failure);
        if (isFinal) return given(failure, credentials);
        if (status === 429 || (PAUSING.has(status) && hint !== undefined)) {
          const why =
            status === 429 ? `the rate limit of ${provider.name}` : `${provider.name} is overloaded`;
          const objection = lane.refused(turn, sentMs, hint, why);
          if (!objection) continue;
          if (status === 429) throw objection;
          return given(failure, credentials);
        }
      } catch (error) {
        if (!(error instanceof TransportError) || error.kind === 'rate-limit' || signal.aborted) throw error;
        failure = { error };
      } finally {
        if (isLeaving) lane.leave();
      }
      failures++;
      failingSinceMs ??= sentMs;
      const waitMs = backoffMs(failures - 1, this.#random) / 2;
      const hasPatience = this.#nowMs() + waitMs < failingSinceMs + provider.patienceMs;
      if (failures >= LIVE_LIMITS.triesMax || !hasPatience || this.#closing.signal.aborted)
        return given(failure, credentials, failures);
      await this.#pause(waitMs, failure, request, signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const lane of this.#lanes.values()) lane[Symbol.dispose]();
    this.#connections[Symbol.dispose]();
  }

  async #credentials(provider: Provider, request: ModelRequest): Promise<Credentials> {
    const login = provider.passesLogin ? loginOf(request) : undefined;
    if (login !== undefined)
      return {
        outgoing: dressed(withLogin(request), provider),
        secret: undefined,
        isLogin: true,
        lane: this.#lane(provider, login),
      };
    if (!provider.key && provider.isKeyNeeded)
      throw new TransportError('auth', 401, `${provider.name} has ${provider.how}`);
    let secret: string | undefined;
    try {
      secret = await provider.key?.read();
    } catch (cause) {
      const why = (cause as Error).message;
      throw new TransportError('auth', 401, `no key for ${provider.name}: ${why}`, cause);
    }
    return {
      outgoing: dressed(withKey(request, secret, provider.key?.header ?? 'bearer'), provider),
      secret,
      isLogin: false,
      lane: this.#lane(provider, secret ?? ''),
    };
  }

  #lane(provider: Provider, credential: string): Patience {
    const { name, concurrencyMax, patienceMs } = provider;
    const id = `${name} ${fingerprint(credential)}`;
    let lane = this.#lanes.get(id);
    if (lane) return lane;
    if (this.#lanes.size >= LIVE_LIMITS.idleLanesMax)
      for (const [other, { isIdle }] of this.#lanes) if (isIdle) this.#lanes.delete(other);
    lane = new Patience({
      provider: name,
      concurrencyMax,
      patienceMs,
      nowMs: this.#nowMs,
      random: this.#random,
      onPause: (pause) => this.#onWait({ provider: name, ...pause }),
    });
    this.#lanes.set(id, lane);
    return lane;
  }

  async #pause(waitMs: number, failure: Failure, request: ModelRequest, signal: AbortSignal): Promise<void> {
    const { provider, task } = request;
    const why = 'error' in failure ? failure.error.message : `${provider} answered ${failure.status}`;
    this.#onWait({ provider, task, untilMs: this.#nowMs() + waitMs, why });
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
  }
}

/** Waits for the first byte: what breaks before it can be tried again. */
async function begin(answer: Answer, { secret, isLogin }: Credentials): Promise<ModelResponse> {
  const { status, response } = answer;
  const headers = returnedHeaders(response.headers, secret);
  const first = await answer.next();
  const isComplaint = status >= 400 && secret !== undefined;
  if (isComplaint) delete headers['content-length'];
  const body = bodyOf(answer, first);
  return {
    status,
    headers,
    body: isComplaint ? withoutSecret(body, secret) : body,
    ...(isLogin && { ownLogin: true }),
  };
}

/** Not a generator: one that is ended before it was begun would not close the answer. */
function bodyOf(answer: Answer, first: Buffer | undefined): AsyncIterable<Buffer> {
  let peeked = first;
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    const value = peeked ?? (first && (await answer.next()));
    peeked = undefined;
    return value ? { value, done: false } : { value: undefined, done: true };
  };
  const end = async (): Promise<IteratorResult<Buffer, undefined>> => {
    answer.close();
    return { value: undefined, done: true };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** The last answer, or the last error; the agent need not try again what was tried here. */
function given(failure: Failure, { secret, isLogin }: Credentials, tries = 1): ModelResponse {
  if ('error' in failure) {
    const { kind, status, message, cause } = failure.error;
    throw new TransportError(kind, status, tries > 1 ? `${message} (${tries} tries)` : message, cause);
  }
  const { 'content-length': _, ...headers } = failure.headers;
  const once = (async function* () {
    yield failure.body;
  })();
  return {
    status: failure.status,
    headers: { ...headers, 'x-should-retry': 'false' },
    body: secret === undefined ? once : withoutSecret(once, secret),
    ...(isLogin && { ownLogin: true }),
  };
}

function dressed(outgoing: Outgoing, { headers }: Provider): Outgoing {
  return { ...outgoing, headers: { ...outgoing.headers, ...headers } };
}

function unknownProvider(name: string, providers: Providers): TransportError {
  const known = [...providers.keys()].join(', ');
  return new TransportError(
    'bad-request',
    404,
    `there is no provider "${name.slice(0, 64)}"; there are ${known}; add it to providers in your configuration`,
  );
}
