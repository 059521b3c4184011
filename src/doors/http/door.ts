/**
 * The HTTP door: a request → who asks, which operation, its input → what came of it. It holds no logic: what is asked is
 * done by `perform`, by the table of operations.
 *
 *   Host, Origin ─▶ token, rate ─▶ route ─▶ role ─▶ body, fields ─▶ perform ─▶ answer, or a problem
 */
import type { Operation } from '../../contract/operation.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { Role } from '../../contract/role.ts';
import { followLogs, perform } from '../../operations/perform.ts';
import { requireRole, sharedWord, type Access, type HttpCaller } from './access.ts';
import { jsonReply, type Call, type Pour, type Reply, type Sink } from './call.ts';
import { wantsStream, watchedRepository } from './event-request.ts';
import type { EventStreams } from './event-streams.ts';
import type { Guard } from './guard.ts';
import { readInput } from './input.ts';
import type { Page } from './page.ts';
import { HttpProblem, problemReply } from './problem.ts';
import { requestOnce } from './request-once.ts';
import { Router, type Found } from './router.ts';
import { ROUTES, type HttpRoute } from './routes.ts';
import { fileWithin, type Starts } from './starts.ts';

/** What is no operation: about the server itself. */
export interface Own {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Nobody has to say who they are. */
  isOpen: boolean;
  answer(call: Call, caller: HttpCaller | undefined): Promise<Reply> | Reply;
}

export interface DoorOptions {
  guard: Guard;
  access: Access;
  streams: EventStreams;
  starts: Starts;
  own: readonly Own[];
  page: Page;
  /** Is told of what nobody foresaw. */
  onBug(error: unknown): void;
  /** Is told of each request that was answered. */
  onAnswered(route: string, status: number): void;
}

type Input = Record<string, unknown>;
const NONE = '(none)';
const PAGE = '(page)';

export class Door {
  readonly #options: DoorOptions;
  readonly #router: Router<HttpRoute | Own>;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#router = new Router<HttpRoute | Own>([...ROUTES, ...options.own]);
  }

  /** Never rejects: what goes wrong is an answer, too. */
  async answer(call: Call): Promise<Reply> {
    let route = NONE;
    let reply: Reply;
    try {
      const page = this.#options.page.answer(call);
      this.#options.guard.check(call, { isPage: page !== undefined });
      const found = this.#findOpen(call);
      route = page ? PAGE : found ? found.route.path : NONE;
      reply =
        page ??
        (found
          ? await found.route.answer(call, undefined)
          : await this.#answerKnown(call, this.#options.access.callerOf(call), (path) => (route = path)));
    } catch (error) {
      // Whoever asked has gone: that what they asked for ended is no bug.
      const isLeft = call.signal.aborted && (error as Error | undefined)?.name === 'AbortError';
      reply = problemReply(error, isLeft ? () => {} : this.#options.onBug);
    }
    this.#options.onAnswered(route, reply.status);
    return reply;
  }

  /** What anybody may ask for; a stranger is told of nothing else, not even whether it is there. */
  #findOpen({ method, path }: Call): { route: Own } | undefined {
    const own = this.#options.own.find((each) => each.path === path);
    return own?.isOpen && (method === 'GET' || method === 'HEAD') ? { route: own } : undefined;
  }

  async #answerKnown(call: Call, caller: HttpCaller, onRoute: (path: string) => void): Promise<Reply> {
    const found = this.#router.find(call.method, call.path);
    onRoute(found.route.path);
    if ('answer' in found.route) return found.route.answer(call, caller);
    return this.#perform(found as Found<HttpRoute>, call, caller);
  }

  async #perform({ route, values }: Found<HttpRoute>, call: Call, caller: HttpCaller): Promise<Reply> {
    requireRole(caller, roleFor(route), `${route.method} ${route.path}`);
    const { access, streams } = this.#options;
    const isWithin = values.repository !== undefined && route.operation !== 'forgetRepository';
    const repository = isWithin ? access.repository(values.repository!) : undefined;
    const input = await readInput(route, values, call);
    const forAdmins = route.adminFields?.find(
      (field) => input[field] !== undefined && input[field] !== false,
    );
    if (forAdmins !== undefined) requireRole(caller, 'admin', `the field ${forAdmins}`);
    if (route.gives === 'events' && wantsStream(call)) {
      const watched = watchedRepository(call, repository!, input);
      return streams.answer({ watched, by: caller.by, isAllowed: () => access.isStill(caller, watched) });
    }
    const around = {
      cwd: repository?.directory ?? '/',
      by: caller.by,
      signal: call.signal,
      ...sharedWord(caller),
    };
    if (['check', 'hooks'].includes(route.operation) && input.file !== undefined)
      fileWithin(input.file as string);
    if (route.starts) {
      const once = requestOnce(call, caller, input);
      return this.#options.starts.answer(route, input, around, { once, role: caller.role });
    }
    if (route.gives === 'log' && input.follow === true) {
      const watched = { repositories: [repository!], isOfAll: false };
      const asked = { by: caller.by, isAllowed: () => access.isStill(caller, watched) };
      return streams.holdOpen(asked, LOG, (sink, signal) => pourLog(input, { ...around, signal }, sink));
    }
    if (route.page) return pageOfList(route, values, input, around);
    return answerOf(route, input, around);
  }
}

export function roleFor({ role, operation }: HttpRoute): Role {
  const { changes }: Operation = OPERATIONS[operation];
  return role ?? (changes ? 'run' : 'read');
}

export interface HttpContext {
  cwd: string;
  by: HttpCaller['by'];
  signal: AbortSignal;
  whyNotShared?: string;
}

/** Each operation has an input of its own, which was held against the table. */
async function answerOf(route: HttpRoute, input: Input, around: HttpContext): Promise<Reply> {
  const { operation, gives, status = 200 } = route;
  switch (gives) {
    case 'events':
      return jsonReply(await pageOf(input, around));
    case 'log':
      return { ...LOG, body: (sink) => pourLog(input, around, sink) };
    case 'patch':
      return piecewise('text/x-diff', async (sink) => {
        await perform('diff', input, { ...around, write: writerTo(sink) });
      });
    case 'file':
      return savedAs(
        input.path as string,
        piecewise('application/octet-stream', async (sink) => {
          await perform('artifact', input as never, { ...around, write: writerTo(sink) });
        }),
      );
    default: {
      const rest = { seen() {}, waits() {}, printed() {}, confirm: async () => true, write() {} };
      return jsonReply(await perform(operation, input as never, { ...around, ...rest }), { status });
    }
  }
}

const LOG: Reply = { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: '' };

async function pourLog(input: Input, { cwd, by, signal }: HttpContext, sink: Sink): Promise<void> {
  for await (const page of followLogs(input, { cwd, by, signal })) {
    sink.write(page.map((recorded) => `${JSON.stringify(recorded)}\n`).join(''));
    await sink.drained();
  }
}

/** Where it is full, `Link` says where the next one is: the list may have ended with it all the same. */
async function pageOfList(
  { operation, path, page }: HttpRoute,
  values: Record<string, string>,
  given: Input,
  around: HttpContext,
): Promise<Reply> {
  const { by, limit } = page!;
  const input = { limit, ...given };
  const list = (await perform(operation, input as never, around as never)) as unknown as { id: string }[];
  if (list.length < input.limit) return jsonReply(list);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...given, [by]: list.at(-1)!.id }))
    if (values[name] === undefined) for (const each of [value].flat()) query.append(name, String(each));
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
  return jsonReply(list, { headers: { link: `<${at}?${query.toString()}>; rel="next"` } });
}

const PAGE_EVENTS = 200;
const PAGE_EVENTS_MAX = 1000;

/**
 * `next` is where the next page begins; it is there also where there is nothing more yet. What the store gives at once is
 * enough: it knows how much may be held.
 */
async function pageOf(input: Input, around: HttpContext): Promise<{ events: unknown[]; next: string }> {
  const { limit = PAGE_EVENTS, follow } = input as { limit?: number; follow?: boolean };
  if (follow) throw new HttpProblem(406, 'usage', 'to follow events, send Accept: text/event-stream');
  const events: unknown[] = [];
  const enough = new AbortController();
  const { cursor } = await perform(
    'events',
    { ...input, limit: Math.min(limit, PAGE_EVENTS_MAX) },
    {
      ...around,
      signal: AbortSignal.any([around.signal, enough.signal]),
      seen(some: unknown[]) {
        events.push(...some);
        enough.abort();
      },
    },
  );
  return { events, next: cursor };
}

function writerTo(sink: Sink): (piece: Buffer) => Promise<void> {
  return async (piece) => {
    sink.write(piece);
    await sink.drained();
  };
}

/** Whatever it holds, and whoever opens its address: a browser saves it, and runs and shows nothing of it. */
function savedAs(path: string, reply: Reply): Reply {
  const name = path.split('/').at(-1)!.toWellFormed();
  const spelt = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const headers = {
    'content-disposition': `attachment; filename*=UTF-8''${spelt}`,
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  };
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function piecewise(type: string, body: Pour): Reply {
  return { status: 200, headers: { 'content-type': type }, body };
}
