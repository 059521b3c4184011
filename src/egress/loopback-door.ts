/**
 * A person's way to a service of a run: a free port of the machine's loopback that leads to its socket. A page that a browser
 * shows from elsewhere must not use it: only requests for its own name pass, and of a page only those of its own pages. Each
 * door has a name of its own, because browsers give cookies to a host, whatever its port: nothing else on loopback is that host.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dialRelay, type Unreached } from '../system/net/dial-relay.ts';
import { createServer } from '../system/net/http.ts';
import { listen } from '../system/net/listen.ts';
import { forward } from './forward.ts';
import { EgressRefusal } from './gate.ts';
import { answerRefusal, writeRefusal } from './refusal.ts';
import { isWebSocket, upgrade } from './upgrade.ts';

const LOOPBACK = '127.0.0.1';
/** Whatever ends in it is loopback to a browser. */
const LOOPBACK_DOMAIN = 'localhost';
const NAME_BYTES = 8;
const CONNECTIONS_MAX = 64;
const HEADER_BYTES_MAX = 64 * 1024; // of one's own browser, with its cookies
const HEADERS_MS = 60_000;

export interface LoopbackDoorOptions {
  /** Of the service. */
  name: string;
  /** Of the relay. */
  socketPath: string;
  /** Any protocol, and no look at who asks. */
  isTcp: boolean;
}

export async function openLoopbackDoor(options: LoopbackDoorOptions): Promise<LoopbackDoor> {
  const door = new LoopbackDoor(options);
  await door.listen();
  return door;
}

export class LoopbackDoor implements AsyncDisposable {
  readonly #socketPath: string;
  readonly #host: string;
  readonly #server: Server;
  readonly #clients = new Map<Duplex, AbortController>();

  constructor({ name, socketPath, isTcp }: LoopbackDoorOptions) {
    this.#socketPath = socketPath;
    this.#host = isTcp ? LOOPBACK : `${name}.${randomBytes(NAME_BYTES).toString('hex')}.${LOOPBACK_DOMAIN}`;
    this.#server = isTcp
      ? createTcpServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => void this.#carry(socket))
      : this.#httpServer();
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket: Socket) => {
      socket.on('error', () => {}); // its close is what counts
      const gone = new AbortController();
      this.#clients.set(socket, gone);
      socket.once('close', () => {
        this.#clients.delete(socket);
        gone.abort();
      });
    });
  }

  /** Part of opening: see `openLoopbackDoor`. */
  async listen(): Promise<void> {
    await listen(this.#server, { host: LOOPBACK, port: 0 });
  }

  /** As it stands in a Host header. */
  get address(): string {
    return `${this.#host}:${this.#port}`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients.keys()) client.destroy();
    await closed;
  }

  #httpServer(): Server {
    const server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      shouldUpgradeCallback: isWebSocket,
    });
    server.maxHeadersCount = 0;
    server.on('request', (incoming, outgoing) => void this.#request(incoming, outgoing));
    server.on('upgrade', (incoming, client, head) => void this.#upgrade(incoming, client, head));
    return server;
  }

  async #request(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on('error', () => {});
    const refuse = (refusal: EgressRefusal): void => answerRefusal(outgoing, refusal);
    const upstream = await this.#reach(incoming);
    if (upstream instanceof EgressRefusal) return refuse(upstream);
    try {
      forward({ incoming, outgoing, path: pathOf(incoming), ...this.#to(upstream), refuse });
    } catch (error) {
      upstream.destroy();
      refuse(new EgressRefusal(400, `bosun: the request cannot be passed on: ${(error as Error).message}`));
    }
  }

  async #upgrade(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const upstream = await this.#reach(incoming);
    if (upstream instanceof EgressRefusal) return writeRefusal(client, upstream);
    upgrade(incoming, pathOf(incoming), this.#to(upstream));
    if (head.length > 0) upstream.write(head);
    join(client, upstream);
  }

  async #carry(client: Socket): Promise<void> {
    const upstream = await this.#dial(client);
    if (upstream instanceof EgressRefusal) return void client.destroy();
    join(client, upstream);
  }

  async #reach(incoming: IncomingMessage): Promise<Socket | EgressRefusal> {
    return this.#objection(incoming) ?? (await this.#dial(incoming.socket));
  }

  async #dial(client: Socket): Promise<Socket | EgressRefusal> {
    const socket = await dialRelay(this.#socketPath, this.#clients.get(client)?.signal);
    return typeof socket === 'string' ? new EgressRefusal(502, `bosun: ${WORDS[socket]}`) : socket;
  }

  #to(upstream: Socket): {
    target: { host: string; port: number; addresses: string[] };
    upstream: Socket;
    headerBytesMax: number;
  } {
    return {
      target: { host: this.#host, port: this.#port, addresses: [] },
      upstream,
      headerBytesMax: HEADER_BYTES_MAX,
    };
  }

  /** Whatever name leads here, and whatever page asks: what is not sure to be the person's own wish goes nowhere. */
  #objection(incoming: IncomingMessage): EgressRefusal | undefined {
    const { rawHeaders, headers, method } = incoming;
    const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'host');
    if (hosts.length !== 1 || hosts[0] !== this.address)
      return new EgressRefusal(421, `bosun: only http://${this.address} leads here; use that address`);
    const {
      origin,
      'sec-fetch-site': site = 'none',
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
    } = headers;
    // A link that somebody clicks, or an address that a page goes to in sight of everybody.
    const isVisit = mode === 'navigate' && dest === 'document' && (method === 'GET' || method === 'HEAD');
    const isOwn = site === 'none' || site === 'same-origin' || (isVisit && origin === undefined);
    if (isOwn && (origin === undefined || origin === `http://${this.address}`)) return undefined;
    return new EgressRefusal(403, 'bosun: pages from elsewhere may not use this address');
  }
}

const WORDS: Record<Unreached, string> = {
  'nobody-listens': 'nothing listens on the port now; start the server again, or wait a moment',
  'too-many': 'the service has too many connections; try again later',
  'no-answer': 'the service takes no connection in time',
  gone: 'the service is gone',
};

/** A request for a proxy has another form, and so has one that is about no page. */
function pathOf({ url = '/' }: IncomingMessage): string {
  return url.startsWith('/') ? url : '/';
}

function join(client: Duplex, upstream: Socket): void {
  upstream.once('error', () => client.destroy());
  client.once('close', () => upstream.destroy());
  client.pipe(upstream).pipe(client);
}
