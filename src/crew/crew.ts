/**
 * What an agent can ask of us: a server on the attempt's own unix socket, JSON-RPC 2.0 with one message a line.
 * The socket is the identity, so there is no token to steal. It decides nothing: it hands calls to the functions
 * behind the table of tools, and answers.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { BosunError, ERRORS } from '../contract/errors.ts';
import { listenOnSocket, type SocketAt } from '../system/net/listen-on-socket.ts';
import { readLines, writeLine } from './lines.ts';
import { readRequest, RpcError, type RpcRequest } from './rpc.ts';
import { CALLS_MAX, REQUEST_BYTES_MAX, type CrewTools, type ToolName } from './tools.ts';

/** With those that are being turned away; more are closed without a word. */
const SOCKETS_MAX = 64;
const LINGER_MS = 1000;
/** Of one connection: an agent that sends many short lines does not stop the engine. */
const LINES_A_TURN = 16;

export interface CrewOptions extends SocketAt {
  tools: CrewTools;
  /** Something that the agent should know beside what it asked for. */
  notice?(method: ToolName): string | undefined;
}

export async function openCrew(options: CrewOptions): Promise<Crew> {
  const { socketPath } = options;
  const crew = new Crew(options);
  try {
    await crew.listen();
    return crew;
  } catch (cause) {
    await crew[Symbol.asyncDispose]();
    const why = (cause as Error).message;
    throw new BosunError(
      'system',
      `cannot open the agent's socket at ${socketPath}: ${why}; its directory must be there and writable`,
      { cause },
    );
  }
}

export class Crew implements AsyncDisposable {
  readonly socketPath: string;
  readonly #options: CrewOptions;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  #socket: AsyncDisposable | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.socketPath = options.socketPath;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = SOCKETS_MAX;
  }

  /** Part of opening: see `openCrew`. */
  async listen(): Promise<void> {
    this.#socket = await listenOnSocket(this.#server, this.#options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed;
    await this.#socket?.[Symbol.asyncDispose]();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // its close is what counts
    this.#clients.add(socket);
    const left = new AbortController();
    socket.once('close', () => {
      this.#clients.delete(socket);
      left.abort();
    });
    if (this.#clients.size > CALLS_MAX) {
      const why = `more than ${CALLS_MAX} connections at once; close some first`;
      return turnAway(socket, new RpcError(ERRORS.busy.rpc, why));
    }
    readLines(socket, {
      bytesMax: REQUEST_BYTES_MAX,
      linesATurn: LINES_A_TURN,
      onLine: (line) => void this.#handle(socket, line, left.signal),
      onTooLong: () =>
        turnAway(socket, new RpcError(ERRORS.usage.rpc, 'the message is longer than it may be')),
    });
  }

  /** Until what comes of it is written, it counts as under way. */
  async #handle(socket: Socket, line: string, left: AbortSignal): Promise<void> {
    this.#inFlight++;
    try {
      writeLine(socket, await this.#answer(line, left));
    } finally {
      this.#inFlight--;
    }
  }

  async #answer(line: string, left: AbortSignal): Promise<unknown> {
    let id: RpcRequest['id'] = null;
    try {
      const request = readRequest(line);
      id = request.id;
      if (this.#inFlight > CALLS_MAX)
        throw new RpcError(ERRORS.busy.rpc, `more than ${CALLS_MAX} requests at once; wait for an answer`);
      const result = await this.#call(request, left);
      const notice = this.#options.notice?.(request.method);
      return { jsonrpc: '2.0', id, result, ...(notice !== undefined && { notice }) };
    } catch (error) {
      return failure(error instanceof RpcError && error.id !== undefined ? error.id : id, error);
    }
  }

  #call({ method, params }: RpcRequest, left: AbortSignal): Promise<unknown> {
    const tools = this.#options.tools as Record<
      ToolName,
      (input: unknown, left: AbortSignal) => Promise<unknown>
    >;
    return tools[method](params, left);
  }
}

/** Whoever is turned away has a moment to read why. */
function turnAway(socket: Socket, error: RpcError): void {
  socket.end(`${JSON.stringify(failure(null, error))}\n`);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function failure(id: RpcRequest['id'], error: unknown): unknown {
  const told = (code: number, message: string): unknown => ({ jsonrpc: '2.0', id, error: { code, message } });
  if (error instanceof RpcError) return told(error.code, error.message);
  if (error instanceof BosunError) return told(ERRORS[error.code].rpc, error.message);
  // What a bug says may be nothing for an agent to know.
  return told(-32603, 'something went wrong in the engine');
}
