/**
 * This door on stdin and stdout, for a client that starts it: both eras of the protocol, until the client is gone. What is
 * no message is answered here, since the protocol's own reader leaves it out; and a client that closes its end right
 * after a request still gets the answer.
 */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  deserializeMessage,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseJson } from '../../base/parse-json.ts';
import { holdUntilDrained, readLines } from '../../crew/lines.ts';
import { createServer, type McpServerOptions } from './server.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
/** Longer than any tool waits. */
const LAST_ANSWERS_MS_MAX = 75_000;
const ID_CHARS_MAX = 200;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

interface Streams {
  stdin: Readable;
  stdout: Writable;
}

export async function serveOnStdio(options: McpServerOptions, say: (text: string) => void): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  await serveOnStreams(options, process, { say, signal: stop.signal });
  process.stdin.destroy(); // a client that ends us may leave its end open
}

/** Resolves when the other side is gone, or the signal aborts. */
export async function serveOnStreams(
  options: McpServerOptions,
  { stdin, stdout }: Streams,
  { say, signal }: { say(text: string): void; signal: AbortSignal },
): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const messages = new PassThrough();
  const transport = new AnsweringTransport(messages, stdout);
  const handle = serveStdio(() => createServer(options), {
    transport,
    onerror: ({ message }) => say(message),
  });
  const refuse = (refusal: object): void => void stdout.write(`${JSON.stringify(refusal)}\n`);
  readLines(stdin, {
    bytesMax: LINE_BYTES_MAX,
    onLine: (line) => {
      const read = readMessage(line);
      if ('refusal' in read) return refuse(read.refusal);
      transport.note(read.message);
      if (!messages.write(`${line}\n`)) holdUntilDrained(stdin, messages);
    },
    onTooLong: () => {
      refuse(refusalOf(null, INVALID_REQUEST, `a message is longer than ${LINE_BYTES_MAX} bytes`));
      resolve();
    },
  });
  for (const sign of ['end', 'close'] as const)
    stdin.once(sign, () => void transport.answered(LAST_ANSWERS_MS_MAX).then(resolve));
  for (const sign of ['close', 'error'] as const) stdout.once(sign, () => resolve());
  stdin.once('error', () => resolve());
  signal.addEventListener('abort', () => resolve(), { once: true });
  await ended;
  await handle.close();
}

/** Knows which requests wait for an answer. */
class AnsweringTransport extends StdioServerTransport {
  readonly #waiting = new Set<string | number>();
  #onAnswered: (() => void) | undefined;

  note(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) this.#waiting.add(message.id);
    else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.#settle((message.params as { requestId?: string | number } | undefined)?.requestId);
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message)) this.#settle(message.id);
  }

  /** Resolves when none waits, or after a while in any case. */
  async answered(msMax: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what was read last has been noted by then
    if (this.#waiting.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAnswered = resolve;
    const timer = setTimeout(resolve, msMax);
    await promise;
    clearTimeout(timer);
  }

  #settle(id: string | number | undefined): void {
    if (id !== undefined) this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#onAnswered?.();
  }
}

/** A line as a message, or what is answered to one that is none. */
function readMessage(line: string): { message: JSONRPCMessage } | { refusal: object } {
  const value = parseJson(line);
  if (value === undefined)
    return { refusal: refusalOf(null, PARSE_ERROR, 'this line is not JSON, or has more than bosun reads') };
  try {
    return { message: deserializeMessage(line) };
  } catch {
    const { id } = (value ?? {}) as { id?: unknown };
    const isId = typeof id === 'number' || (typeof id === 'string' && id.length <= ID_CHARS_MAX);
    return {
      refusal: refusalOf(
        isId ? id : null,
        INVALID_REQUEST,
        'this is not a JSON-RPC 2.0 message of the protocol',
      ),
    };
  }
}

function refusalOf(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
