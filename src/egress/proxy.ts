/**
 * The one way out of an attempt's sandbox: an HTTP proxy on a unix socket of the attempt's own. The socket is the
 * identity, so there is no token to steal. Every request is decided anew; nothing is kept, logged or decrypted.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BosunError } from '../contract/errors.ts';
import { createServer } from '../system/net/http.ts';
import { listenOnSocket, type SocketAt } from '../system/net/listen-on-socket.ts';
import { AllowList } from './allow-list.ts';
import { formatAuthority, HOST_CHARS_MAX } from './authority.ts';
import { forward } from './forward.ts';
import { Gate, EgressRefusal, resolveBySystem, type Denied, type Resolve, type Target } from './gate.ts';
import { objectToConnect, objectToRequest, objectToUpgrade, type Objection } from './objections.ts';
import { ServicesDoor, type FindService } from './services-door.ts';
import { isWebSocket, upgrade } from './upgrade.ts';
import { reach, within } from './reach.ts';
import { answerRefusal, writeRefusal } from './refusal.ts';

export const EGRESS_LIMITS = {
  /** Connections from the attempt, and connections out for it. */
  connectionsMax: 256,
  headerBytesMax: 16 * 1024,
  /** How long nothing may move on a connection. */
  idleMs: 300_000,
  /** Finding the address and connecting. */
  connectMs: 20_000,
  hostCharsMax: HOST_CHARS_MAX,
  /** Of the connections out, those to services of the run. */
  serviceConnectionsMax: 64,
  /** Denials that are told. */
  toldMax: 1000,
};
export type EgressLimits = typeof EGRESS_LIMITS;

const HEADERS_MS = 60_000;

export interface EgressOptions extends SocketAt {
  /** The entries of `scope.network`. */
  allow: readonly string[];
  resolve?: Resolve;
  /** The services of the run; without it there are none. */
  findService?: FindService;
  /** Told once per host, port and reason. */
  onDenied(denied: Denied): void;
  limits?: Partial<EgressLimits>;
  signal?: AbortSignal;
}

export async function openEgress(options: EgressOptions): Promise<EgressProxy> {
  const { socketPath, signal } = options;
  signal?.throwIfAborted();
  const proxy = new EgressProxy(options);
  try {
    await proxy.listen();
  } catch (cause) {
    await proxy[Symbol.asyncDispose]();
    throw new BosunError(
      'system',
      `cannot open the way to the network at ${socketPath}: ${(cause as Error).message}`,
      { cause },
    );
  }
  return proxy;
}

export class EgressProxy implements AsyncDisposable {
  readonly socketPath: string;
  readonly #at: SocketAt;
  readonly #limits: EgressLimits;
  readonly #server: Server;
  readonly #gate: Gate;
  readonly #services: ServicesDoor;
  readonly #onDenied: (denied: Denied) => void;
  readonly #told = new Set<string>();
  /** The attempt's connections, each with what ends when it does. */
  readonly #clients = new Map<Duplex, AbortController>();
  readonly #signal: AbortSignal | undefined;
  readonly #stop = (): void => void this[Symbol.asyncDispose]();
  #socket: AsyncDisposable | undefined;
  #outgoing = 0;
  #closing: Promise<void> | undefined;

  constructor(options: EgressOptions) {
    const { socketPath, allow, resolve = resolveBySystem, findService, onDenied, limits, signal } = options;
    this.socketPath = socketPath;
    this.#at = options;
    this.#limits = { ...EGRESS_LIMITS, ...limits };
    this.#gate = new Gate(new AllowList(allow), resolve, this.#limits.hostCharsMax);
    this.#services = new ServicesDoor(findService, this.#limits.serviceConnectionsMax);
    this.#onDenied = onDenied;
    const { idleMs, headerBytesMax } = this.#limits;
    const headersTimeout = Math.min(HEADERS_MS, idleMs);
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: headerBytesMax,
      headersTimeout,
      requestTimeout: 0, // an upload may take its time; one that stands still is idle
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: Math.ceil(headersTimeout / 2),
      shouldUpgradeCallback: isWebSocket, // any other offer is left out of what is passed on
    });
    this.#server.maxHeadersCount = 0; // the bytes are limited; a header that is dropped could be the one that matters
    this.#server.timeout = idleMs;
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#server.on('request', (incoming, outgoing) => void this.#request(incoming, outgoing));
    this.#server.on('upgrade', (incoming, client, head) => void this.#upgrade(incoming, client, head));
    this.#server.on('connect', (incoming, client, head) => void this.#tunnel(incoming, client, head));
    this.#signal = signal;
    signal?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Part of opening: see `openEgress`. */
  async listen(): Promise<void> {
    this.#socket = await listenOnSocket(this.#server, this.#at);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#stop);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients.keys()) client.destroy();
    await closed;
    await this.#socket?.[Symbol.asyncDispose]();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // its close is what counts
    if (this.#clients.size >= this.#limits.connectionsMax) {
      const why = `more than ${this.#limits.connectionsMax} connections at once`;
      writeRefusal(socket, new EgressRefusal(503, `bosun: ${why}; close some first`));
      return;
    }
    const gone = new AbortController();
    this.#clients.set(socket, gone);
    socket.once('close', () => {
      this.#clients.delete(socket);
      gone.abort();
    });
  }

  async #request(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const refuse = (refusal: EgressRefusal): void => {
      this.#tell(refusal);
      answerRefusal(outgoing, refusal);
    };
    outgoing.on('error', () => {}); // whoever asked may be gone
    const asked = absoluteForm(incoming);
    if (asked instanceof EgressRefusal) return refuse(asked);
    const reached = await this.#reach(incoming, asked.authority, 80, objectToRequest);
    if (reached instanceof EgressRefusal) return refuse(reached);
    const { headerBytesMax } = this.#limits;
    try {
      forward({ incoming, outgoing, path: asked.path, ...reached, headerBytesMax, refuse });
    } catch (error) {
      reached.upstream.destroy();
      refuse(new EgressRefusal(400, `bosun: the request cannot be passed on: ${(error as Error).message}`));
    }
  }

  /** A request that becomes a WebSocket: its head is passed on, and from then on it is bytes both ways. */
  async #upgrade(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const asked = absoluteForm(incoming);
    const reached =
      asked instanceof EgressRefusal
        ? asked
        : await this.#reach(incoming, asked.authority, 80, objectToUpgrade);
    if (asked instanceof EgressRefusal || reached instanceof EgressRefusal)
      return this.#turnAway(client, reached as EgressRefusal);
    upgrade(incoming, asked.path, reached);
    this.#join(client, reached.upstream, head);
  }

  /** `CONNECT host:port`: bytes both ways, which are nobody's business. */
  async #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const reached = await this.#reach(incoming, incoming.url ?? '', undefined, objectToConnect);
    if (reached instanceof EgressRefusal) return this.#turnAway(client, reached);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    this.#join(client, reached.upstream, head);
  }

  #turnAway(client: Duplex, refusal: EgressRefusal): void {
    this.#tell(refusal);
    writeRefusal(client, refusal);
  }

  #join(client: Duplex, upstream: Socket, head: Buffer): void {
    (client as Socket).setTimeout(this.#limits.idleMs, () => client.destroy());
    upstream.once('error', () => client.destroy());
    if (head.length > 0) upstream.write(head);
    client.pipe(upstream).pipe(client);
  }

  /** Everything that is checked, in order, before a connection out is handed over. */
  async #reach(
    incoming: IncomingMessage,
    authority: string,
    defaultPort: number | undefined,
    objection: Objection,
  ): Promise<{ target: Target; upstream: Socket } | EgressRefusal> {
    const { connectMs, connectionsMax } = this.#limits;
    const gone = this.#clients.get(incoming.socket)?.signal;
    if (gone === undefined) return new EgressRefusal(503, 'bosun: the connection is closed');
    const service = this.#services.admit(authority, defaultPort);
    const asked = service ?? this.#gate.admit(authority, defaultPort);
    if (asked instanceof EgressRefusal) return asked;
    const refusal = objection(incoming, asked);
    if (refusal !== undefined) return refusal;
    if (this.#outgoing >= connectionsMax)
      return new EgressRefusal(
        503,
        `bosun: more than ${connectionsMax} requests at once; wait for some first`,
      );
    this.#outgoing += 1;
    let upstream: Socket | EgressRefusal | undefined;
    try {
      if (service !== undefined && !(service instanceof EgressRefusal)) {
        upstream = await this.#services.reach(service, gone);
        if (upstream instanceof EgressRefusal) return upstream;
        upstream.once('close', () => (this.#outgoing -= 1));
        return { target: { host: service.host, port: service.port, addresses: [] }, upstream };
      }
      const untilMs = performance.now() + connectMs;
      const where = formatAuthority(asked.host, asked.port);
      const target = await within(connectMs, where, this.#gate.locate(asked));
      if (target instanceof EgressRefusal) return target;
      upstream = await reach(target, Math.max(1, untilMs - performance.now()), gone);
      if (upstream instanceof EgressRefusal) return upstream;
      upstream.once('close', () => (this.#outgoing -= 1));
      return { target, upstream };
    } finally {
      if (upstream === undefined || upstream instanceof EgressRefusal) this.#outgoing -= 1;
    }
  }

  #tell({ denied }: EgressRefusal): void {
    if (denied === undefined) return;
    const key = `${denied.host} ${denied.port} ${denied.why}`;
    const { toldMax } = this.#limits;
    if (this.#told.has(key) || this.#told.size > toldMax) return;
    this.#told.add(key);
    if (this.#told.size <= toldMax) this.#onDenied(denied);
    else this.#onDenied({ host: '*', port: 0, why: `more than ${toldMax} were denied; no more are listed` });
  }
}

/** An absolute-form request, such as `GET http://example.com/ HTTP/1.1`. */
function absoluteForm({ url = '' }: IncomingMessage): { authority: string; path: string } | EgressRefusal {
  const [, authority, path = ''] = /^http:\/\/([^/?#]*)([/?][^#]*)?$/is.exec(url) ?? [];
  if (authority === undefined)
    return new EgressRefusal(400, 'bosun: this is a proxy: ask for http://host/path, or CONNECT host:port');
  return { authority, path: path.startsWith('/') ? path : `/${path}` };
}
