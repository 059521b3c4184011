/**
 * Sockets of the HTTP door: listens on an address and on the user's own socket, turns requests into calls and replies
 * into responses, and holds the limits that only sockets have. What is asked and answered is none of its business.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { BosunError } from '../../contract/errors.ts';
import type { Role } from '../../contract/role.ts';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import { createServer } from '../../system/net/http.ts';
import { listen } from '../../system/net/listen.ts';
import { paceRequests } from '../../system/net/pace-requests.ts';
import { listenOnSocket } from '../../system/net/listen-on-socket.ts';
import type { HttpCaller } from './access.ts';
import { SOCKET, type Call, type Headers, type Pour, type Reply, type Sink } from './call.ts';
import { HttpProblem, problemReply } from './problem.ts';
import { unplaced } from './sessions.ts';

const CONNECTIONS_MAX = 2048;
const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_MS_MAX = 10_000;
/** Until all of a request is there. */
const REQUEST_MS_MAX = 60_000;
/** Whoever takes nothing of an answer for so long has gone: a connection must not be held for nobody. */
const STALLED_MS = 60_000;
const KEEP_ALIVE_MS = 30_000;
const CHECK_MS = 500;
/** Of all requests together, while they come in. */
const BODIES_BYTES_MAX = 256 * 1024 * 1024;
/** What is under way when the server closes may end; and how long a reader that was told to go has for reading that. */
const LEAVE_MS = 5000;

/** Nothing of ours is for other pages, and nothing that an agent wrote is to be run by a browser. */
const ALWAYS: Headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A way in of its own below a path, such as another protocol's; who calls is known before it is asked. */
export interface Mount {
  path: string;
  role: Role;
  /** What it throws is answered as a problem, as long as it has answered nothing. */
  serve(request: IncomingMessage, response: ServerResponse, admitted: Admitted): Promise<void>;
}

interface Admitted {
  caller: HttpCaller;
  repositories: readonly ServedRepository[];
}

export interface Answering {
  answer(call: Call): Promise<Reply>;
  /** Who calls, for a mount; throws where they may not. */
  admit(call: Call, role: Role): Admitted;
}

export interface HttpServerOptions {
  mounts?: readonly Mount[] | undefined;
  /** Until all headers of a request are there. */
  headersMsMax?: number | undefined;
  /** How long somebody may take nothing of what is written. */
  stalledMs?: number | undefined;
  /** All that is done for a request is done within this. */
  around?<T>(action: () => T): T;
  onBug(error: unknown): void;
}

export interface Listening {
  host: string;
  port: number;
  socketPath: string;
}

export class HttpServer implements AsyncDisposable {
  readonly #answering: () => Answering;
  readonly #mounts: readonly Mount[];
  readonly #onBug: (error: unknown) => void;
  readonly #tcp: Server;
  readonly #local: Server;
  #socket: AsyncDisposable | undefined;
  readonly #headersMsMax: number;
  readonly #stalledMs: number;
  readonly #around: <T>(action: () => T) => T;
  #bodiesBytes = 0;

  /** `answering` is asked for once it listens: who may come in depends on the port. */
  constructor(
    answering: () => Answering,
    {
      mounts = [],
      headersMsMax = HEADERS_MS_MAX,
      stalledMs = STALLED_MS,
      around = (action) => action(),
      onBug,
    }: HttpServerOptions,
  ) {
    this.#answering = answering;
    this.#mounts = mounts;
    this.#onBug = onBug;
    this.#headersMsMax = headersMsMax;
    this.#stalledMs = stalledMs;
    this.#around = around;
    this.#tcp = this.#server(false);
    this.#local = this.#server(true);
  }

  /** Gives the port. */
  async listen({ host, port, socketPath }: Listening): Promise<number> {
    try {
      await listen(this.#tcp, { host, port, backlog: 1024 });
      this.#socket = await listenOnSocket(this.#local, { socketPath });
    } catch (error) {
      await closed(this.#tcp);
      throw unlistened(error as NodeJS.ErrnoException, host, port);
    }
    return (this.#tcp.address() as AddressInfo).port;
  }

  /** What is under way may end; nothing new is taken. */
  async [Symbol.asyncDispose](): Promise<void> {
    const servers = [this.#tcp, this.#local];
    const all = Promise.all(servers.map(closed));
    const timer = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), LEAVE_MS);
    await all;
    clearTimeout(timer);
    await this.#socket?.[Symbol.asyncDispose]();
  }

  #server(isLocal: boolean): Server {
    const server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: this.#headersMsMax,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
        noDelay: true,
      },
      (request, response) => {
        response.on('error', () => {}); // the other side may go at any time
        response.on('timeout', () => response.destroy()); // or take nothing any more
        request.on('error', () => {});
        this.#around(() => this.#receive(request, response, isLocal)).catch((error: unknown) => {
          this.#onBug(error);
          response.destroy();
        });
      },
    );
    paceRequests(server);
    server.maxConnections = CONNECTIONS_MAX;
    server.on('clientError', refuse);
    return server;
  }

  async #receive(request: IncomingMessage, response: ServerResponse, isLocal: boolean): Promise<void> {
    const call = this.#callOf(request, response, isLocal);
    const mount = this.#mounts.find(({ path }) => call.path === path || call.path.startsWith(`${path}/`));
    if (!mount) return this.#send(await this.#answering().answer(call), response);
    try {
      await mount.serve(request, response, this.#answering().admit(call, mount.role));
    } catch (error) {
      if (response.headersSent) throw error;
      await this.#send(problemReply(error, this.#onBug), response);
    }
  }

  #callOf(request: IncomingMessage, response: ServerResponse, isLocal: boolean): Call {
    const { url = '', method = '', headers } = request;
    const at = url.indexOf('?');
    let gone: AbortSignal | undefined;
    return {
      method,
      ...unplaced(at === -1 ? url : url.slice(0, at)),
      query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
      headers,
      countOf: (header) =>
        request.rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === header).length,
      from: isLocal ? SOCKET : (request.socket.remoteAddress ?? 'unknown'),
      body: (bytesMax) => this.#readBody(request, bytesMax),
      get signal() {
        return (gone ??= goneSignal(response));
      },
    };
  }

  async #readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
    const tooLong = new HttpProblem(413, 'usage', `the body is too long: at most ${bytesMax} bytes`);
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLong;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#bodiesBytes += chunk.length;
        if (bytes > bytesMax) throw tooLong;
        if (this.#bodiesBytes > BODIES_BYTES_MAX)
          throw new HttpProblem(503, 'busy', 'too many large requests at once: try again later');
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } catch (error) {
      if (error instanceof HttpProblem) throw error;
      throw new HttpProblem(400, 'usage', 'the body ended before it was complete');
    } finally {
      this.#bodiesBytes -= bytes;
    }
  }

  async #send({ status, headers, body }: Reply, response: ServerResponse): Promise<void> {
    if (response.destroyed) return;
    if (typeof body === 'function') return this.#pour(status, headers, body, response);
    response.writeHead(status, { ...ALWAYS, ...headers, 'content-length': Buffer.byteLength(body) });
    response.setTimeout(this.#stalledMs);
    response.end(body); // a text goes out together with its head, in one piece
  }

  async #pour(status: number, headers: Headers, pour: Pour, response: ServerResponse): Promise<void> {
    const sink = new ResponseSink(response, this.#stalledMs, () => {
      // Whoever reads it for long does not come back on the same connection.
      response.writeHead(status, { ...ALWAYS, ...headers, connection: 'close' });
    });
    try {
      if (response.req.method === 'HEAD') response.writeHead(status, { ...ALWAYS, ...headers });
      else await pour(sink);
    } catch (error) {
      const isLeft = response.destroyed && (error as Error | undefined)?.name === 'AbortError';
      if (!response.headersSent && !isLeft) return this.#send(problemReply(error, this.#onBug), response);
      response.destroy(); // half an answer must not look like a whole one
      return;
    }
    if (!response.headersSent) sink.write('');
    response.end();
    const timer = setTimeout(() => response.destroy(), LEAVE_MS).unref();
    response.once('close', () => clearTimeout(timer));
  }
}

class ResponseSink implements Sink {
  readonly #response: ServerResponse;
  readonly #stalledMs: number;
  readonly #begin: () => void;
  #signal: AbortSignal | undefined;

  constructor(response: ServerResponse, stalledMs: number, begin: () => void) {
    this.#response = response;
    this.#stalledMs = stalledMs;
    this.#begin = begin;
  }

  write(piece: Buffer | string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    if (!this.#response.headersSent) this.#begin();
    if (piece.length > 0) this.#response.write(piece);
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= goneSignal(this.#response));
  }

  async drained(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        response.setTimeout(0);
        resolve();
      };
      response.once('drain', done).once('close', done);
      response.setTimeout(this.#stalledMs);
    });
  }
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed || response.closed) gone.abort();
  // Once all is answered nobody has to be told.
  else response.once('close', () => response.writableFinished || gone.abort());
  return gone.signal;
}

/** What is no request, comes too slowly or has too much before its body: no route was ever looked for. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'the request took too long to arrive']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, `the headers are too long: at most ${HEADER_BYTES_MAX} bytes`]
        : [400, 'this is not a request of HTTP/1.1'];
  const { headers, body } = problemReply(new HttpProblem(status, 'usage', detail), () => {});
  const lines = Object.entries({ ...ALWAYS, ...headers, connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}content-length: ${body.length}\r\n\r\n${body as string}`);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
    server.closeIdleConnections();
  });
}

function unlistened(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const { code, message } = error;
  if (code === undefined || error instanceof BosunError) return error;
  const what = `cannot listen on ${host}:${port}`;
  const next =
    code === 'EADDRINUSE'
      ? 'another program, or another bosun serve, uses this port: end that one, or choose another with --port'
      : code === 'EACCES'
        ? 'choose a port above 1023 with --port'
        : 'choose another address with --host, or another port with --port';
  return new BosunError('busy', `${what} (${message}); ${next}`, { cause: error });
}
