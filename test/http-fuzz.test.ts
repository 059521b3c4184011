/** The HTTP door under requests that are anything: over real sockets that stay open, each has an answer, none a 500. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { ROUTES } from '../src/doors/http/routes.ts';
import { openShop } from './fixtures/http.ts';
import { plantRun } from './fixtures/planted-run.ts';
import { seeded, spoiled } from './fixtures/seeded.ts';

const SEED = 20_261_118;
const COUNT = 30_000;
const CONNECTIONS = 6;
const ANSWER_MS_MAX = 20_000;
/** Too busy, and a page that is not built: both are said. */
const FINE = new Set([501, 503]);

interface Mutated {
  method: string;
  target: string;
  headers: string[];
  body: Buffer | undefined;
}

it(`answers each of ${COUNT} mutated requests, none with a 500`, { timeout: 120_000 }, async () => {
  await using shop = await openShop({ 'README.md': 'hello\n' });
  const { server, repository } = shop;
  const created = {
    type: 'run.created',
    id: '',
    workflow: workflow({ name: 'written', tasks: { one: { run: 'true' } } }),
    source: 'bosun.yaml',
    inputs: {},
    base: await repository.git('rev-parse', 'HEAD'),
    dirty: false,
  } as unknown as Event;
  await using run = await plantRun(repository.path, [{ seq: 1, atMs: Date.now(), run: '', event: created }]);
  expect(run.id).toBe('written-1');
  const { port } = new URL(server.serving.url);
  const own = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${server.serving.token}\r\n`;
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, n) => {
      const random = seeded(SEED + n);
      let line: Line | undefined;
      for (let sent = 0; sent < COUNT / CONNECTIONS; sent += 1) {
        const { method, target, headers, body } = mutated(random);
        const length = body === undefined ? '' : `content-length: ${body.length}\r\n`;
        const more = headers.map((each) => `${each}\r\n`).join('');
        const isSpoiled = random() < 0.02;
        const first = `${method} ${target} HTTP/1.1\r\n${more}${length}`;
        // A token is never spoiled: whoever guesses tokens waits, and nothing else would be tried.
        const head = `${isSpoiled ? spoiled(first, random) : first}${own}\r\n`;
        line ??= await Line.open(Number(port));
        const status = await line.ask(Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.of()]), {
          isLast: isSpoiled,
          isHead: method === 'HEAD',
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status >= 500 && !FINE.has(status))
          throw new Error(`${status} for ${method} ${target} ${String(body)} (seed ${SEED + n}, ${sent})`);
        if (line.isOver) line = undefined;
      }
      line?.close();
    }),
  );
  expect(server.bugs).toEqual([]);
  for (const expected of [200, 400, 404, 405]) expect([...statuses.keys()]).toContain(expected);
  expect(statuses.get(200)).toBeGreaterThan(COUNT / 100);
  expect(statuses.get(429) ?? 0).toBeLessThan(COUNT / 10);
  expect((await server.ask('GET', '/health')).json).toEqual({ status: 'ok' });
});

/** One connection: a request, its answer, the next one. */
class Line {
  isOver = false;
  readonly #socket: Socket;
  #got = '';
  #look: () => void = () => {};

  static async open(port: number): Promise<Line> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Line(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (piece: string) => {
      this.#got += piece;
      this.#look();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isOver = true;
      this.#look();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The status; 0 where the connection ended without a word, as it may for what was no request. */
  ask(bytes: Buffer, { isLast, isHead }: { isLast: boolean; isHead: boolean }): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const late = setTimeout(
      () => reject(new Error(`no answer to ${bytes.toString('latin1').slice(0, 2000)}`)),
      ANSWER_MS_MAX,
    );
    this.#look = () => {
      const status = this.#status(isHead, isLast);
      if (status !== undefined) resolve(status);
    };
    if (isLast) this.#socket.end(bytes);
    else this.#socket.write(bytes);
    this.#look();
    return promise.finally(() => clearTimeout(late));
  }

  /** Undefined as long as the answer is not whole. */
  #status(isHead: boolean, isLast: boolean): number | undefined {
    const [, text = ''] = /^HTTP\/1\.1 (\d+)/.exec(this.#got) ?? [];
    if (this.isOver) return Number(text);
    const end = this.#got.indexOf('\r\n\r\n');
    if (end === -1 || isLast) return undefined;
    const head = this.#got.slice(0, end).toLowerCase();
    if (text === '100') {
      this.#got = this.#got.slice(end + 4);
      return this.#status(isHead, isLast);
    }
    if (head.includes('connection: close')) return undefined;
    if (head.includes('transfer-encoding: chunked') && !isHead) {
      const over = this.#got.indexOf('0\r\n\r\n', end + 4); // Node's own answer to an "Expect" that it does not know
      if (over === -1) return undefined;
      this.#got = this.#got.slice(over + 5);
      return Number(text);
    }
    const length = isHead ? 0 : Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (this.#got.length < end + 4 + length) return undefined;
    this.#got = this.#got.slice(end + 4 + length);
    return Number(text);
  }
}

const ODD = [
  '',
  '0',
  '-1',
  '1e9',
  'true',
  'null',
  '../..',
  '%00',
  'a'.repeat(5000),
  '\u0000',
  '💥',
  '__proto__',
  'shop',
  'written-1',
  'one',
  '[]',
  '{}',
  '1.1',
];

/** Without those that look at all of the machine or the disk each time; and the repository stays served. */
const QUICK = ROUTES.filter(
  ({ operation }) =>
    !['doctor', 'workspaces', 'clean', 'merge', 'prune', 'forgetRepository'].includes(operation),
);

/** Mostly a real route; its values, its query, its body and its headers are anything. Nothing of it can start a run. */
function mutated(random: () => number): Mutated {
  const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
  const route = pick(QUICK);
  const method =
    random() < 0.9 ? route.method : pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'X']);
  let path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    random() < 0.6
      ? ({ repository: 'shop', run: 'written-1', task: 'one' }[name] ?? 'x')
      : encodeURIComponent(pick(ODD)),
  );
  if (random() < 0.1) path = spoiled(path, random);
  const query = new URLSearchParams();
  for (let left = method === 'GET' ? 3 : 0; random() < left / 4; left -= 1)
    query.append(
      pick([
        'limit',
        'after',
        'task',
        'attempt',
        'stat',
        'outside',
        'withoutOutput',
        'follow',
        'afterSeq',
        ...ODD,
      ]),
      pick(ODD),
    );
  if (query.has('follow')) query.delete('follow'); // it would be right to wait
  const value = (depth: number): unknown =>
    depth > 3 || random() < 0.6
      ? pick<unknown>([...ODD, 0, -1, 1.5, 1e308, true, false, null])
      : random() < 0.5
        ? Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1))
        : Object.fromEntries([[pick(ODD), value(depth + 1)]]);
  const body: Record<string, unknown> = { 'not a field': 1 };
  while (random() < 0.7)
    body[
      pick([
        'file',
        'prompt',
        'argv',
        'usd',
        'inputs',
        'directory',
        'answer',
        'text',
        'name',
        'keep',
        'trust',
        'id',
        ...ODD,
      ])
    ] = value(0);
  const text = JSON.stringify(body);
  const bytes = Buffer.from(random() < 0.3 ? spoiled(text, random) : text);
  const headers: string[] = [];
  if (random() < 0.9)
    headers.push(
      `content-type: ${pick(['application/json', 'application/json; charset=utf-8', 'text/plain', ''])}`,
    );
  if (random() < 0.1)
    headers.push(
      `${pick(['idempotency-key', 'last-event-id', 'accept', 'origin', 'cookie', 'expect', 'host'])}: ${plain(pick(ODD))}`,
    );
  const target = plain(`${path}${query.size > 0 ? `?${query.toString()}` : ''}`);
  return { method, target, headers, body: method === 'GET' || method === 'HEAD' ? undefined : bytes };
}

/** A line of a request has no ends of lines and nothing beyond Latin-1: Node's parser ends it there. */
function plain(text: string): string {
  return text.replaceAll(/[^\x21-\xff]/g, '_');
}
