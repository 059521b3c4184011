/**
 * One request's life: read → estimate → admitted (perhaps hours later) → sent → passed on as it arrives → settled. It
 * knows nothing of budgets, keys or retries: those are the caller's and the transport's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Admission,
  type AgentError,
  type Dialect,
  type RequestEstimate,
  type SettledUse,
} from '../contract/model.ts';
import type { Caller } from './caller.ts';
import {
  complaintOf,
  kindOfAnswer,
  kindOfStatus,
  NO_RETRY,
  reasonIn,
  refusedStatus,
  stoppingStatus,
} from './complaint.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import type { FailureStreak } from './failure-streak.ts';
import { meterFor } from './money/meter.ts';
import type { PriceOf } from './money/prices.ts';
import { judge } from './request/judge.ts';
import { BodyProblem, readBody } from './request/body.ts';
import type { ProviderReach, Reached } from './request/reach.ts';
import { routeOf, type Passes, type Route } from './request/route.ts';
import { Waiting } from './waiting.ts';
import { passOn, type Passing } from './pass-on.ts';
import { TransportError, type ModelResponse, type Transport } from './transport.ts';
import { useOf, type SentRequest } from './money/use-of.ts';
import { estimateOf } from './request/estimate.ts';

/** What is the same for all requests of an attempt. */
export interface ExchangeOptions {
  caller: Caller;
  transport: Transport;
  priceOf: PriceOf;
  providers: Readonly<Record<string, Dialect>>;
  passes: Passes;
  bodyBytesMax: number;
  /** Told of bytes that are kept; throws a BodyProblem where they are too many. */
  hold(bytes: number): void;
  onError(error: AgentError): void;
  /** Of the attempt's requests, how the last ones ended. */
  failures: FailureStreak;
  /** What the attempt was told that the provider may not do for it. */
  told: Set<string>;
}

const ERROR_BYTES_MAX = 16 * 1024;
const TOLD_MAX = 100;
const NOTHING = Buffer.alloc(0);

type Settle = (use?: SettledUse) => void;
type Admitted = Extract<Admission, { isAdmitted: true }>;

/** Never throws. `url` is what follows the door's own address. */
export async function exchange(
  around: ExchangeOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  url: string,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  outgoing.on('error', () => {}); // its close is what counts
  const route = routeOf(incoming.method ?? 'GET', url, around.providers, around.passes);
  const { dialect } = route;
  try {
    if ('status' in route) throw new BodyProblem(route.status, route.message);
    await carry(around, incoming, outgoing, route, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return;
    const told = tellOf(error);
    around.failures.failed(told);
    around.onError(told);
    complain(outgoing, dialect, statusFor(dialect, error), told.message);
  }
}

async function carry(
  around: ExchangeOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  route: Route,
  signal: AbortSignal,
): Promise<void> {
  const { caller, transport } = around;
  const read = await readBody(incoming, around.bodyBytesMax, around.hold);
  if (route.api !== undefined) around.failures.check();
  const isRead = !route.isFree || route.counts !== undefined;
  const { asked, reached, body = read } = await judge(isRead ? read : NOTHING, route, reachOf(around, route));
  for (const each of reached) fence(around, route, each);
  const pictures = reached.reduce((sum, each) => sum + each.pictures, 0);
  const judged = estimateOf(route, asked, { bytes: body.length, pictures }, around.priceOf);
  const isUnbounded = reached.some(({ hasMore, allowed }) => hasMore || allowed.length > 0);
  const estimate: RequestEstimate = isUnbounded && !route.isFree ? { ...judged, isUnbounded } : judged;
  const { provider, dialect, path } = route;
  const { run, task, attempt } = caller;
  const headers = requestHeaders(incoming.headers);
  const method = incoming.method ?? 'GET';
  let { settle, pause: release } = await admitted(caller, estimate, signal);
  let sentMs = performance.now();
  const admitAgain = async (): Promise<void> => {
    const { loop: _, ...again } = estimate; // the agent did not ask twice
    ({ settle, pause: release } = await admitted(caller, again, signal));
    sentMs = performance.now();
  };
  const beforeAgain = async (): Promise<void> => {
    if (route.isFree) return;
    settle(useOf(around.priceOf, { ...estimate, sentMs }, {}));
    await admitAgain();
  };
  try {
    signal.throwIfAborted();
    using waiting = new Waiting((waited) => caller.onWait?.(provider, waited));
    const pause = (): (() => Promise<void> | undefined) => {
      const reserve = release?.();
      waiting.pause();
      return () => {
        waiting.heard();
        waiting.listen();
        sentMs = performance.now();
        if (reserve?.() ?? true) return undefined;
        settle();
        return admitAgain();
      };
    };
    const request = {
      run,
      task,
      attempt,
      provider,
      dialect,
      method,
      path,
      headers,
      body,
      beforeAgain,
      pause,
    };
    const response = await transport.send(request, signal);
    await relay(around, route, { ...estimate, sentMs }, response, outgoing, { signal, waiting, settle });
  } catch (error) {
    // The agent may be gone, but the provider has the request: it thinks, and charges for it.
    if (error instanceof TransportError && error.mayCost && !route.isFree)
      settle(useOf(around.priceOf, { ...estimate, sentMs }, {}));
    throw error;
  } finally {
    settle(); // where nothing was answered
  }
}

async function admitted(caller: Caller, estimate: RequestEstimate, signal: AbortSignal): Promise<Admitted> {
  const admission = await caller.admit(estimate, signal);
  if (!admission.isAdmitted) throw new Refused(admission);
  return { ...admission, settle: onlyOnce(admission.settle) };
}

function reachOf({ caller, passes }: ExchangeOptions, { provider }: Route): ProviderReach {
  return {
    mayReach: (url) => caller.mayReach?.(url) ?? false,
    mayUse: (tool) =>
      [tool, tool.replace(/_\d{8}$/, '')].some((name) => passes(provider, 'TOOL', `/${name}`)),
  };
}

/** Tells of what the provider would do past the agent's fence and was taken out, and refuses what cannot be. */
function fence(
  { caller, told }: ExchangeOptions,
  { provider, dialect }: Route,
  { removed, refusal }: Reached,
): void {
  const deny = (host: string, port: number, why: string): void => {
    if (told.has(`${host} ${port}`) || told.size >= TOLD_MAX) return;
    told.add(`${host} ${port}`);
    caller.onDenied?.({ host, port, why });
  };
  for (const tool of removed)
    deny(`${tool} of ${provider}`, 0, 'a tool that runs at the provider, past the fence');
  if (!refusal) return;
  const { host, port, message, isFinal } = refusal;
  if (isFinal) throw new BodyProblem(400, `bosun: ${message}`);
  const remedy =
    port > 0
      ? `add ${JSON.stringify(host)} to scope.network`
      : `add pass: ["TOOL ${host.replace(/_\d{8}$/, '')}"] to providers.${provider} in your own configuration`;
  if (port > 0) deny(host, port, `${provider} would fetch it for the agent`);
  throw new BodyProblem(refusedStatus(dialect), `bosun: ${message}; to allow it, ${remedy}`);
}

async function relay(
  around: ExchangeOptions,
  route: Route,
  estimate: SentRequest,
  response: ModelResponse,
  outgoing: ServerResponse,
  { settle, ...passing }: Passing & { settle: Settle },
): Promise<void> {
  const headers = responseHeaders(response.headers);
  const kind = kindOfStatus(response.status);
  if (kind !== undefined) {
    const { status } = response;
    const said = route.api === undefined ? status : stoppingStatus(route.dialect, status);
    const mark = said === status ? {} : { 'x-bosun-status': String(status) };
    Object.assign(headers, NO_RETRY, mark);
    // OpenCode looks for words and numbers such as "server_error" and 500, and tries again whatever the status is.
    const isRetold = said !== status && kind === 'overloaded';
    const body = isRetold
      ? await beginningOf(response.body)
      : await passOn({ ...response, status: said }, headers, outgoing, passing, new Beginning());
    const bytes = body.bytes();
    const error = {
      kind: kindOfAnswer(kind, status, bytes),
      message: describeError(estimate, route, response) + reasonIn(kind, bytes),
      status,
    };
    around.failures.failed(error);
    around.onError(error);
    if (isRetold) complain(outgoing, route.dialect, said, `bosun gave up on ${estimate.provider}`, mark);
    return;
  }
  const meter = route.api && meterFor(route.api, headers['content-type'] ?? '');
  let isWhole = false;
  try {
    await passOn(response, headers, outgoing, passing, meter);
    isWhole = true;
    if (route.api !== undefined) around.failures.succeeded();
  } finally {
    const { ownLogin, replayed } = response;
    const isFree = meter === undefined && route.isFree && !isWhole;
    settle(isFree ? undefined : useOf(around.priceOf, estimate, { ownLogin, replayed, meter, isWhole }));
  }
}

function describeError(
  { provider, model }: RequestEstimate,
  { path }: Route,
  { status, rejectedKey }: ModelResponse,
): string {
  if (rejectedKey !== undefined)
    return `${provider} rejected the key from ${rejectedKey} (${status}); set a valid one`;
  return `${provider} answered ${status} to a request for ${model || path}`;
}

/** The first bytes of an error, to say what it was. */
class Beginning {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    if (this.#bytes < ERROR_BYTES_MAX) this.#parts.push(chunk.subarray(0, ERROR_BYTES_MAX - this.#bytes));
    this.#bytes += chunk.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

async function beginningOf(chunks: AsyncIterable<Buffer>): Promise<Beginning> {
  const beginning = new Beginning();
  for await (const chunk of chunks) beginning.push(chunk);
  return beginning;
}

class Refused extends Error {
  readonly kind: AgentError['kind'];

  constructor({ kind = 'budget', message }: Extract<Admission, { isAdmitted: false }>) {
    super(message);
    this.kind = kind;
  }
}

function tellOf(error: unknown): AgentError {
  const { message } = error as Error;
  if (error instanceof TransportError) return { kind: error.kind, status: error.status, message };
  if (error instanceof Refused) return { kind: error.kind, message };
  if (error instanceof BodyProblem)
    return { kind: error.status === 413 ? 'context-full' : 'bad-request', message };
  // What a bug says may be nothing for an agent to know.
  return { kind: 'crashed', message: 'bosun: something went wrong in the gateway' };
}

function statusFor(dialect: Dialect, error: unknown): number {
  if (error instanceof Refused) return refusedStatus(dialect);
  if (error instanceof BodyProblem) return error.status;
  return stoppingStatus(dialect, error instanceof TransportError ? error.status : 500);
}

function complain(
  outgoing: ServerResponse,
  dialect: Dialect,
  status: number,
  message: string,
  more: Record<string, string> = {},
): void {
  // A body that has begun can only be broken off, so that nobody takes it for whole.
  if (outgoing.headersSent) return void outgoing.destroy();
  const { headers, body } = complaintOf(dialect, status, message);
  Object.assign(headers, more);
  // What was not read of the request would be taken for the next one.
  if (!outgoing.req.complete) headers.connection = 'close';
  headers['content-length'] = String(Buffer.byteLength(body));
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

function onlyOnce(settle: Settle): Settle {
  let isDone = false;
  return (use) => {
    if (isDone) return;
    isDone = true;
    settle(use);
  };
}
