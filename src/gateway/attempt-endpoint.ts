/**
 * Where one attempt reaches models: an HTTP server on a unix socket of its own, or, on a machine without fences, on
 * loopback behind an address that cannot be guessed. Who comes through it is the attempt; there is no key to steal.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from '../system/net/http.ts';
import { BosunError } from '../contract/errors.ts';
import { listen } from '../system/net/listen.ts';
import { paceRequests } from '../system/net/pace-requests.ts';
import { listenOnSocket, type SocketAt } from '../system/net/listen-on-socket.ts';
import { exchange, type ExchangeOptions } from './exchange.ts';
import { FailureStreak } from './failure-streak.ts';
import { BodyProblem, mb } from './request/body.ts';

const ENDPOINT_LIMITS = {
  connectionsMax: 256,
  headerBytesMax: 64 * 1024,
  bodyBytesMax: 32 * 1024 * 1024,
  /** Of all requests that are under way. */
  heldBytesMax: 256 * 1024 * 1024,
};
export type EndpointLimits = typeof ENDPOINT_LIMITS;

/** Agents keep connections for later; one that is closed just when it is used again fails a request. */
const KEEP_ALIVE_MS = 600_000;
const TOKEN_BYTES = 24;

export type EndpointAt = 'tcp' | SocketAt;

export type EndpointOptions = Omit<ExchangeOptions, 'hold' | 'bodyBytesMax' | 'failures' | 'told'> & {
  limits?: Partial<EndpointLimits>;
  onClosed?(door: AttemptEndpoint): void;
};

export async function openEndpoint(options: EndpointOptions, at: EndpointAt): Promise<AttemptEndpoint> {
  const door = new AttemptEndpoint(options, at);
  try {
    await door.listen();
    return door;
  } catch (cause) {
    await door[Symbol.asyncDispose]();
    const where = at === 'tcp' ? '127.0.0.1' : at.socketPath;
    const why = (cause as Error).message;
    throw new BosunError(
      'system',
      `cannot open the way to models at ${where}: ${why}; ` +
        (at === 'tcp' ? 'loopback must be up' : 'its directory must be there and writable'),
      { cause },
    );
  }
}

export class AttemptEndpoint implements AsyncDisposable {
  readonly socketPath: string | undefined;
  readonly #at: EndpointAt;
  readonly #limits: EndpointLimits;
  readonly #options: EndpointOptions;
  /** What every path begins with. */
  readonly #token: Buffer;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #around: Omit<ExchangeOptions, 'hold'>;
  #socket: AsyncDisposable | undefined;
  #heldBytes = 0;
  #closing: Promise<void> | undefined;

  constructor(options: EndpointOptions, at: EndpointAt) {
    this.#options = options;
    this.#at = at;
    this.socketPath = at === 'tcp' ? undefined : at.socketPath;
    this.#limits = { ...ENDPOINT_LIMITS, ...options.limits };
    const { bodyBytesMax } = this.#limits;
    this.#around = { ...options, bodyBytesMax, failures: new FailureStreak(), told: new Set() };
    this.#token = Buffer.from(at === 'tcp' ? `/${randomBytes(TOKEN_BYTES).toString('base64url')}` : '');
    this.#server = createServer({
      maxHeaderSize: this.#limits.headerBytesMax,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    });
    paceRequests(this.#server);
    // Nothing here limits how long an answer may take: a person may have to be asked first.
    this.#server.timeout = 0;
    this.#server.maxConnections = this.#limits.connectionsMax;
    this.#server.on('connection', (socket: Socket) => {
      this.#clients.add(socket);
      socket.once('close', () => this.#clients.delete(socket));
    });
    this.#server.on('request', (incoming, outgoing) => this.#answer(incoming, outgoing));
  }

  /** Such as http://127.0.0.1:4180/secret; undefined for a unix socket. */
  get baseUrl(): string | undefined {
    if (this.#at !== 'tcp') return undefined;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#token.toString()}`;
  }

  /** Part of opening: see `openEndpoint`. */
  async listen(): Promise<void> {
    if (this.#at === 'tcp') return listen(this.#server, { host: '127.0.0.1', port: 0 });
    this.#socket = await listenOnSocket(this.#server, this.#at);
  }

  /** When it resolves every request is settled. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed; // its socket is gone too
    await Promise.all(this.#underWay);
    await this.#socket?.[Symbol.asyncDispose]();
    this.#options.onClosed?.(this);
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const url = this.#below(incoming.url ?? '');
    if (url === undefined) {
      outgoing.writeHead(404, { connection: 'close' }).end();
      return;
    }
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      heldBytes += bytes;
      this.#heldBytes += bytes;
      if (this.#heldBytes > this.#limits.heldBytesMax)
        throw new BodyProblem(
          503,
          `bosun: requests under way hold more than ${mb(this.#limits.heldBytesMax)}; wait for some first`,
        );
    };
    const done = exchange({ ...this.#around, hold }, incoming, outgoing, url).finally(() => {
      this.#heldBytes -= heldBytes;
      this.#underWay.delete(done);
    });
    this.#underWay.add(done);
  }

  /** What follows the token; undefined where it is not the right one. */
  #below(url: string): string | undefined {
    if (this.#at !== 'tcp') return url.startsWith('/') ? url : undefined;
    const [token, bytes] = [this.#token, Buffer.from(url)];
    if (bytes.length < token.length) return undefined;
    if (!timingSafeEqual(bytes.subarray(0, token.length), token)) return undefined;
    const rest = url.slice(token.length);
    return rest.startsWith('/') ? rest : undefined;
  }
}
