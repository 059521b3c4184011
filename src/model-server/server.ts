/**
 * A model server that says what a script tells it to: Anthropic Messages, OpenAI chat completions and responses,
 * Gemini. It checks no keys and knows no model; it keeps nothing of a conversation, a request brings all of it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../system/net/http.ts';
import { parseDurationMs, TIMER_MS_MAX } from '../base/units.ts';
import { BosunError } from '../contract/errors.ts';
import { Plan } from './plan.ts';
import { play, type Manner, type Wire } from './play.ts';
import { harmlessReply, replyTo } from './reply.ts';
import { RequestLog, type LoggedRequest } from './request-log.ts';
import { serverRouteOf, type ServerRoute } from './route.ts';
import { TOO_LONG_STATUS, tooLong } from './too-long.ts';
import { ModelScript, type ScriptedAnswer, type ModelScriptSource } from './script.ts';
import { isSideRequest } from './side-requests.ts';
import type { AskedModel, ScriptedReply, Speech } from './asked.ts';

const BODY_BYTES_MAX = 64 * 1024 * 1024;
const CONNECTIONS_MAX = 4096;
/** Of tools, in an error. */
const NAMES_MAX = 50;
const AT_ONCE: Manner = { delayMs: 0, pieceDelayMs: 0, fault: undefined };

export interface ModelServerOptions {
  script: ModelScriptSource;
  /** Any free one if not given. */
  port?: number;
  host?: string;
  onRequest?(request: LoggedRequest): void;
}

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const parsed = ModelScript.safeParse(options.script);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new BosunError('usage', `the script of the model server is not valid: ${issues.join('; ')}`);
  }
  const server = new ModelServer(parsed.data, options.onRequest);
  await server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  return server;
}

export class ModelServer implements AsyncDisposable {
  readonly #plan: Plan;
  readonly #log = new RequestLog();
  readonly #onRequest: ((request: LoggedRequest) => void) | undefined;
  readonly #server: Server;
  /** No two replies have the same id, not even after a restart: agents take them for the same one. */
  readonly #prefix = `${Date.now().toString(36)}${process.pid.toString(36)}`;
  #replies = 0;
  #url = '';

  constructor(script: ModelScript, onRequest: ((request: LoggedRequest) => void) | undefined) {
    this.#plan = new Plan(script);
    this.#onRequest = onRequest;
    this.#server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
      response.on('error', () => {}); // the other side may go at any time
      this.#receive(request, response);
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Such as http://127.0.0.1:4180, without a path. */
  get url(): string {
    return this.#url;
  }

  /** The latest ones, the newest last. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.entries;
  }

  /** Part of starting: see `startModelServer`. */
  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(
          new BosunError(
            'system',
            `cannot listen on ${host}:${port}: ${cause.message}; give another port, or 0 for any`,
            { cause },
          ),
        ),
      );
      this.#server.listen(port, host, 1024, () => {
        const { port: bound } = this.#server.address() as AddressInfo;
        this.#url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    });
    request.on('end', () => {
      const route = serverRouteOf(request.method!, request.url!);
      const body = bytes > BODY_BYTES_MAX ? undefined : parseBody(chunks);
      const asked = route.kind === 'model' && body && readAsked(route.speech, body, request.url!);
      if (asked) this.#answer(request, response, route, body, bytes, asked);
      else this.#answerPlainly(request, response, route, body, bytes);
    });
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { speech, isArray }: Extract<ServerRoute, { kind: 'model' }>,
    body: Record<string, unknown>,
    bytes: number,
    asked: AskedModel,
  ): void {
    const id = `${this.#prefix}${(++this.#replies).toString(36).padStart(6, '0')}`;
    const { rule, answer, reply } = this.#decide(asked, id);
    const { fault } = answer;
    const isNumber = typeof fault === 'number';
    const isTooLong = fault === 'too-long';
    const status = isTooLong
      ? TOO_LONG_STATUS
      : isNumber
        ? fault
        : fault === 'hang' || fault === 'cut-before'
          ? 0
          : 200;
    const { dialect, model, turn } = asked;
    this.#note({ request, body, bytes, rule, status, fault, dialect, model, turn });
    const wire = isNumber
      ? refusal(speech, fault, answer)
      : isTooLong
        ? jsonWire(TOO_LONG_STATUS, tooLong(speech.dialect))
        : wireOf(speech, asked, reply, isArray);
    void play(response, wire, {
      delayMs: msOf(answer.delay),
      pieceDelayMs: msOf(answer['chunk-delay']),
      fault: isNumber || isTooLong ? undefined : fault,
    });
  }

  #decide(asked: AskedModel, id: string): { rule: string; answer: ScriptedAnswer; reply: ScriptedReply } {
    if (isSideRequest(asked)) return { rule: 'side', answer: {}, reply: harmlessReply(asked, id) };
    const { rule, answer, use } = this.#plan.choose(asked);
    const reply = replyTo(asked, answer, id);
    if (!reply) {
      const harmless = harmlessReply(asked, id);
      if (asked.tools.length === 0) return { rule: 'side', answer: {}, reply: harmless };
      return { rule: 'no-tool', answer: { fault: 400, text: noTool(asked, rule) }, reply: harmless };
    }
    use();
    return { rule, answer, reply };
  }

  #answerPlainly(
    request: IncomingMessage,
    response: ServerResponse,
    route: ServerRoute,
    body: unknown,
    bytes: number,
  ): void {
    const isModel = route.kind === 'model';
    const status = isModel ? (bytes > BODY_BYTES_MAX ? 413 : 400) : route.status;
    const value = isModel
      ? route.speech.error(
          status,
          'the body of the request is too large, or no JSON object that can be read',
          undefined,
        )
      : route.value(bytes);
    this.#note({ request, body, bytes, rule: isModel ? 'none' : route.kind, status });
    void play(response, jsonWire(status, value), AT_ONCE);
  }

  #note(
    noted: { request: IncomingMessage; bytes: number } & Pick<LoggedRequest, 'body' | 'rule' | 'status'> &
      Partial<Pick<LoggedRequest, 'fault' | 'dialect' | 'model' | 'turn'>>,
  ): void {
    const { request, bytes, body, rule, status, fault, dialect, model, turn } = noted;
    const { method, url, headers } = request;
    const entry = { atMs: Date.now(), method: method!, path: url!, dialect, model, turn, headers, body };
    const logged = this.#log.add({ ...entry, rule, status, fault }, bytes);
    this.#onRequest?.(logged);
  }
}

/** What is nested too deeply is no request. */
function readAsked(speech: Speech, body: Record<string, unknown>, path: string): AskedModel | undefined {
  try {
    return speech.read(body, path);
  } catch {
    return undefined;
  }
}

function parseBody(chunks: Buffer[]): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function wireOf(speech: Speech, asked: AskedModel, reply: ScriptedReply, isArray: boolean): Wire {
  if (asked.isStream && !isArray)
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
      pieces: speech.pieces(reply, asked),
    };
  const whole = speech.whole(reply);
  return jsonWire(200, isArray ? [whole] : whole);
}

function refusal(speech: Speech, status: number, answer: ScriptedAnswer): Wire {
  const retryAfterMs = answer['retry-after'] === undefined ? undefined : msOf(answer['retry-after']);
  const message = answer.text ?? `the script says ${status}`;
  const wire = jsonWire(status, speech.error(status, message, retryAfterMs));
  if (retryAfterMs === undefined) return wire;
  // Whole seconds are all that the header can say; the other one is read by the providers' own clients.
  const seconds = Math.ceil(retryAfterMs / 1000);
  return { ...wire, headers: { ...wire.headers, 'retry-after': seconds, 'retry-after-ms': retryAfterMs } };
}

function jsonWire(status: number, value: unknown): Wire {
  return { status, headers: { 'content-type': 'application/json' }, pieces: [JSON.stringify(value)] };
}

function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : Math.min(parseDurationMs(duration), TIMER_MS_MAX);
}

/** A quiet text would be taken for the agent's work. */
function noTool({ tools }: AskedModel, rule: string): string {
  const names = tools.map(({ name }) => name).slice(0, NAMES_MAX);
  return `the script cannot go on: none of the tools that are offered can do what ${rule} says; offered: ${names.join(', ')}`;
}
