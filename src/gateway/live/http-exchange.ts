/** One request over HTTP and its answer, once: it never retries. Every wait in it has an end. */
import type http from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { isLoopback } from '../../base/is-loopback.ts';
import { Agent, request as plainRequest } from '../../system/net/http.ts';
import { hungUp } from './key-lane.ts';
import { TransportError } from '../transport.ts';

const CONNECT_MS = 20_000;
const HEADER_BYTES_MAX = 64 * 1024;
const FREE_SOCKETS_MAX = 256;
/** Of an answer that nobody reads for now. */
const KEPT_BYTES_MAX = 64 * 1024;
const ONE_WRITE_BYTES_MAX = 16 * 1024;
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Where a provider is reached. */
export interface Upstream {
  /** As messages call it. */
  provider: string;
  /** With its port, for people. */
  host: string;
  isSecure: boolean;
  /** A proxy's loopback is another one. */
  isLoopback: boolean;
  hostname: string;
  port: string;
  /** What the path of every request begins with; no slash at its end. */
  path: string;
  /** How long nothing may come. */
  idleMs: number;
}

/** Taken apart once: for a small request that is as much work as the rest of sending it. */
export function upstreamOf(provider: string, baseUrl: string, idleMs: number): Upstream {
  const { protocol, host, hostname, port, pathname } = new URL(baseUrl);
  return {
    provider,
    host,
    isSecure: protocol === 'https:',
    isLoopback: isLoopback(hostname) || hostname.endsWith('.localhost'),
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname.replace(/\/$/, ''),
    idleMs,
  };
}

export interface HttpCall {
  upstream: Upstream;
  method: string;
  /** Below the base URL. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Connections, kept for the next request; through the proxies that the environment names. */
export class Connections implements Disposable {
  readonly #direct: Agents;
  readonly #proxied: Agents;

  constructor(env: NodeJS.ProcessEnv) {
    const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY, http_proxy, https_proxy, no_proxy } = env;
    const proxyEnv = { HTTP_PROXY, HTTPS_PROXY, NO_PROXY, http_proxy, https_proxy, no_proxy };
    const options = { keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX };
    const make = (more: object): Agents => ({
      plain: new Agent({ ...options, ...more }),
      secure: new https.Agent({ ...options, ...more }),
    });
    this.#direct = make({});
    this.#proxied = make({ proxyEnv });
  }

  for({ isSecure, isLoopback: isDirect }: Upstream): http.Agent {
    const { plain, secure } = isDirect ? this.#direct : this.#proxied;
    return isSecure ? secure : plain;
  }

  [Symbol.dispose](): void {
    for (const { plain, secure } of [this.#direct, this.#proxied]) {
      plain.destroy();
      secure.destroy();
    }
  }
}

interface Agents {
  plain: http.Agent;
  secure: https.Agent;
}

/** Resolves with the head of the answer; throws a TransportError where there is none. */
export function httpExchange(
  call: HttpCall,
  connections: Connections,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { upstream, method, path, headers, body } = call;
  const { isSecure, hostname, port, idleMs, provider } = upstream;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      const failure = signal.aborted ? hungUp(signal) : failureOf(error, upstream);
      failure.mayCost = request.writableFinished;
      reject(failure);
    };
    const send = isSecure ? https.request : plainRequest;
    const request = send({
      agent: connections.for(upstream),
      hostname,
      port,
      method,
      path: `${upstream.path}${path}`,
      headers,
      maxHeaderSize: HEADER_BYTES_MAX,
      setDefaultHeaders: true,
    });
    // Not by its option `signal`, which costs as much as judging a small request.
    const abort = (): void => void request.destroy(hungUp(signal));
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    const endIn = (ms: number, why: string): NodeJS.Timeout =>
      setTimeout(() => request.destroy(new TransportError('timeout', 504, why)), ms);
    let timer = endIn(Math.min(CONNECT_MS, idleMs), `${provider} cannot be reached in time`);
    const onConnected = (): void => {
      clearTimeout(timer);
      timer = endIn(idleMs, silence(upstream));
    };
    request.once('socket', (socket) => {
      if (!socket.connecting) onConnected();
      else socket.once(isSecure ? 'secureConnect' : 'connect', onConnected);
    });
    request.on('error', fail);
    // Also of what Node takes for the end of HTTP, such as 101: then nothing else is said.
    let isAnswered = false;
    request.once('close', () => {
      signal.removeEventListener('abort', abort);
      if (!isAnswered) fail(brokenOff(upstream));
    });
    request.once('response', (response) => {
      isAnswered = true;
      clearTimeout(timer);
      resolve(new HttpAnswer(response, upstream, signal));
    });
    if (body.length === 0) request.end();
    else if (body.length > ONE_WRITE_BYTES_MAX) request.end(body);
    // As text of one byte a character Node sends it together with the headers: in one piece, which the system is quicker to take.
    else request.end(body.toString('latin1'), 'latin1');
  });
}

/** An answer that has begun. It is taken piece by piece, so that silence counts only while somebody waits for more. */
export class HttpAnswer {
  readonly #response: IncomingMessage;
  readonly #body: Readable;
  readonly #upstream: Upstream;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** What came while nobody waited for it. */
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #error: Error | undefined;
  #isClosed = false;
  /** Whoever waits for the next piece; called without one where something else has changed. */
  #wake: ((piece?: Buffer) => void) | undefined;
  #onClosed: (() => void) | undefined;

  constructor(response: IncomingMessage, upstream: Upstream, signal: AbortSignal) {
    this.#response = response;
    this.#body = decoded(response, upstream);
    this.#upstream = upstream;
    this.#signal = signal;
    this.#timer = setTimeout(() => {
      if (this.#wake) response.destroy(new TransportError('timeout', 504, silence(upstream)));
    }, upstream.idleMs);
    const wake = (): void => this.#wakeWith();
    this.#body.on('data', (piece: Buffer) => this.#take(piece));
    this.#body.once('end', wake);
    this.#body.on('error', (error) => {
      this.#error ??= error;
      wake();
    });
    this.#body.once('close', () => {
      clearTimeout(this.#timer);
      this.#isClosed = true;
      wake();
      this.#onClosed?.();
    });
  }

  /** Of the body as it is read here: never compressed. */
  get headers(): IncomingHttpHeaders {
    const { headers } = this.#response;
    if (this.#body === this.#response) return headers;
    const { 'content-encoding': _encoding, 'content-length': _length, ...plain } = headers;
    return plain;
  }

  get provider(): string {
    return this.#upstream.provider;
  }

  get status(): number {
    return this.#response.statusCode!;
  }

  /** The next piece; undefined at the end. Throws a TransportError where it breaks off. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#signal.aborted) throw this.#lost(hungUp(this.#signal));
      if (this.#error) throw this.#lost(failureOf(this.#error, this.#upstream));
      const kept = this.#pieces.shift();
      if (kept) {
        this.#bytes -= kept.length;
        return kept;
      }
      if (this.#body.readableEnded) return undefined;
      if (this.#isClosed) throw this.#lost(brokenOff(this.#upstream));
      this.#timer.refresh();
      if (this.#body.isPaused()) this.#body.resume();
      const piece = await new Promise<Buffer | undefined>((resolve) => (this.#wake = resolve));
      if (piece && !this.#signal.aborted) return piece;
    }
  }

  /** Whoever waits gets it; what nobody waits for is kept, up to a limit. */
  #take(piece: Buffer): void {
    if (this.#wake) return this.#wakeWith(piece);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= KEPT_BYTES_MAX) this.#body.pause();
  }

  #wakeWith(piece?: Buffer): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(piece);
  }

  #lost(error: TransportError): TransportError {
    error.mayCost = this.status < 400;
    return error;
  }

  /** All of it, or its start where it is longer. */
  async rest(bytesMax: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for (let chunk = await this.next(); chunk; chunk = await this.next()) {
        chunks.push(chunk);
        if ((bytes += chunk.length) > bytesMax) break;
      }
    } catch {
      // what there is of a complaint is enough
    }
    this.close();
    return Buffer.concat(chunks).subarray(0, bytesMax);
  }

  /** Calls once, when the connection is no longer used for it. */
  onClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClosed = listener;
  }

  /** Ends the connection, unless all was read. */
  close(): void {
    if (this.#body.readableEnded) return;
    this.#response.destroy();
    this.#body.destroy();
  }
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** Nothing compressed is asked for; what comes so all the same could hide counts, and a key. */
function decoded(response: IncomingMessage, { provider }: Upstream): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
  const decoder = DECODERS.get(encoding)?.();
  if (decoder) return pipeline(response, decoder, () => {});
  const why = `${provider} compressed its response with "${encoding.slice(0, 50)}", which bosun cannot read`;
  response.destroy(new TransportError('network', 502, why));
  return response;
}

function silence({ provider, idleMs }: Upstream): string {
  return `${provider} said nothing for ${Math.round(idleMs / 1000)} s; if it needs longer, raise providers.${provider}.timeout-idle`;
}

function failureOf(error: Error, { provider, host }: Upstream): TransportError {
  if (error instanceof TransportError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (BROKEN.has(code)) return brokenOff({ provider }, error);
  if (code.startsWith('Z_'))
    return new TransportError('network', 502, `${provider} returned a malformed response (${code})`, error);
  const what = isDistrust(code)
    ? `at ${host} has a certificate that is not to be trusted (${code}); if it is your own, name its authority in NODE_EXTRA_CA_CERTS`
    : `cannot be reached at ${host}: ${code || message}`;
  return new TransportError('network', 502, `${provider} ${what}`, error);
}

function brokenOff({ provider }: Pick<Upstream, 'provider'>, cause?: Error): TransportError {
  return new TransportError('network', 502, `${provider} broke off the connection`, cause);
}

/** No other try makes that certificate a better one. */
export function isDistrust(code: unknown): boolean {
  return typeof code === 'string' && /CERT|UNABLE_TO_|ERR_TLS_|ERR_SSL_/.test(code);
}
