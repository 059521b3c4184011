/** The HTTP door under those who mean it no good, or read too slowly: each gets a clear answer, and nobody else notices. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflow } from '../src/definition/builder.ts';
import { Access } from '../src/doors/http/access.ts';
import { SOCKET, type Call } from '../src/doors/http/call.ts';
import { Door } from '../src/doors/http/door.ts';
import { EventStreams } from '../src/doors/http/event-streams.ts';
import { Guard } from '../src/doors/http/guard.ts';
import { Metrics } from '../src/doors/http/metrics.ts';
import { ownRoutes } from '../src/doors/http/own.ts';
import { Page } from '../src/doors/http/page.ts';
import { Sessions } from '../src/doors/http/sessions.ts';
import { ROUTES } from '../src/doors/http/routes.ts';
import { Starts } from '../src/doors/http/starts.ts';
import { createRun } from '../src/run/create-run.ts';
import { openJournal } from '../src/run/journal.ts';
import { Records } from '../src/store/records/records.ts';
import { listenTo, openShop, startServer, type TestServer } from './fixtures/http.ts';
import type { TestRepository } from './fixtures/repository.ts';

const shop = openShop({ 'README.md': 'hello\n' });
let server: TestServer;
let repository: TestRepository;
let at: string;
let port: number;

beforeAll(async () => {
  ({ server, repository, at } = await shop);
  port = Number(new URL(server.serving.url).port);
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

/** What comes back for these bytes, until the server closes. */
async function sendRaw(to: number, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect(to, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const piece of pieces) socket.write(piece);
  await once(socket, 'close');
  return text;
}

describe('requests that are none', () => {
  const own = () => `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${server.serving.token}\r\n`;

  it('are told what is wrong, as a problem', async () => {
    const last = 'Connection: close\r\n\r\n';
    expect(await sendRaw(port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"status":400/s);
    expect(await sendRaw(port, `GET /health HTTP/1.1\r\n${last}`)).toMatch(/^HTTP\/1\.1 400/);
    const two = `Host: 127.0.0.1:${port}\r\nHost: evil.test\r\n`;
    expect(await sendRaw(port, `GET /health HTTP/1.1\r\n${two}${last}`)).toMatch(/^HTTP\/1\.1 4(00|21)/);
    expect(await sendRaw(port, `GET http://evil.test/health HTTP/1.1\r\n${own()}${last}`)).toMatch(
      /^HTTP\/1\.1 404/,
    );
    const long = `X: ${'x'.repeat(20_000)}\r\n`;
    expect(await sendRaw(port, `GET /health HTTP/1.1\r\n${own()}${long}${last}`)).toMatch(/^HTTP\/1\.1 431/);
    const both = 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n';
    expect(await sendRaw(port, `POST ${at}/exec HTTP/1.1\r\n${own()}${both}\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  });

  it('come too slowly and are ended, and others are served meanwhile', async () => {
    await using hasty = await startServer({ headersMsMax: 700 });
    const { port } = new URL(hasty.serving.url);
    const slow = sendRaw(Number(port), `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX`);
    expect((await hasty.ask('GET', '/health')).status).toBe(200);
    expect(await slow).toMatch(/^HTTP\/1\.1 408 .*took too long/s);
  });

  it('have a body of 100 MB, said or not', async () => {
    const head = `POST ${at}/exec HTTP/1.1\r\n${own()}Content-Type: application/json\r\nConnection: close\r\n`;
    expect(await sendRaw(port, `${head}Content-Length: 104857600\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 413/);
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const chunks = Array.from({ length: 10 }, () => ['100000\r\n', chunk, '\r\n']).flat();
    expect(await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n`, ...chunks, '0\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 413/,
    );
  });
});

/** A run that nobody drives, to write what is wanted into its journal. */
async function openRun() {
  const journal = await openJournal(repository.path);
  const { store } = journal;
  const made = workflow({ name: 'written', tasks: { one: { run: 'true' } } });
  const head = await repository.git('rev-parse', 'HEAD');
  const run = { workflow: made, source: 'test', inputs: {}, base: head, dirty: false };
  const { id, claim } = await createRun(store, run, Date.now());
  let { lastSeq } = (await store.run(id))!;
  return {
    id,
    async print(...texts: string[]): Promise<void> {
      const view = (await store.run(id))!;
      const entries = texts.map((text) => ({
        atMs: Date.now(),
        event: { type: 'attempt.output', task: 'one', attempt: 1, stream: 'stdout', text } as const,
      }));
      lastSeq = await store.append(id, lastSeq, { entries, run: view, tasks: [], handled: [] });
    },
    async [Symbol.asyncDispose]() {
      claim[Symbol.dispose]();
      await journal[Symbol.asyncDispose]();
    },
  };
}

describe('readers of events', { timeout: 120_000 }, () => {
  it('that do not keep up are told and dropped, and come back to all that they missed', async () => {
    await using run = await openRun();
    const asked = `GET ${at}/runs/${run.id}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${server.serving.token}\r\n\r\n`;
    const lazy: Socket = connect(port, '127.0.0.1');
    lazy.write(asked);
    await once(lazy, 'readable'); // its headers are there, and it takes nothing more
    await using eager = listenTo(server.serving.url, `${at}/runs/${run.id}/events`, {
      token: server.serving.token,
    });
    const text = 'x'.repeat(64 * 1024);
    let printed = 0;
    const isDropped = async (): Promise<boolean> =>
      (await server.ask('GET', '/metrics')).text.includes('bosun_event_streams 1\n');
    // The system holds some of it back for the reader: how much is not ours to know.
    while (!(await isDropped())) {
      await run.print(...Array.from({ length: 8 }, () => text), String((printed += 1)));
      await eager.until(({ data }) => data?.event?.text === String(printed));
    }
    let read = '';
    const closed = once(lazy, 'close');
    lazy.setEncoding('utf8').on('data', (piece: string) => (read += piece));
    lazy.resume();
    await closed;
    expect(read).toContain('event: dropped');
    const ids = [...read.matchAll(/^id: (\S+)/gm)].map((match) => match[1]!);
    expect(ids.length).toBeLessThan(eager.events.filter(({ id }) => id !== undefined).length);
    await using back = listenTo(server.serving.url, `${at}/runs/${run.id}/events`, {
      token: server.serving.token,
      headers: { 'last-event-id': ids.at(-1)! },
    });
    await back.until(({ data }) => data?.event?.text === String(printed));
    const all = eager.events.flatMap(({ id }) => id ?? []);
    expect([...ids, ...back.events.flatMap(({ id }) => id ?? [])]).toEqual(all);
  });

  it('are a thousand, and each is told', async () => {
    await using run = await openRun();
    const { token, url } = server.serving;
    const readers = Array.from({ length: 1000 }, () => listenTo(url, `${at}/events`, { token }));
    await Promise.all(readers.map(async ({ status }) => expect(await status).toBe(200)));
    const told = readers.map((reader) => reader.until(({ data }) => data?.event?.text === 'to all'));
    await run.print('to all');
    await Promise.all(told);
    expect((await server.ask('GET', '/metrics')).text).toContain('bosun_event_streams 1000');
    await Promise.all(readers.map((reader) => reader[Symbol.asyncDispose]()));
  });
});

describe('mutated requests', { timeout: 120_000 }, () => {
  const SEED = 20_261_118;
  const COUNT = 10_000;
  const MS_MAX = 8000;

  it('crash nothing, hang nothing and are never a 500', async () => {
    const random = seeded(SEED);
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
    const bugs: unknown[] = [];
    const records = new Records();
    const sessions = Sessions.open();
    const access = new Access(records, sessions, undefined);
    const streams = new EventStreams();
    const metrics = new Metrics();
    await using starts = new Starts(access, (text) => bugs.push(text));
    const door = new Door({
      guard: new Guard('127.0.0.1', 1, []),
      access,
      streams,
      starts,
      own: ownRoutes({ access, streams, metrics, sessions, version: '0' }),
      page: new Page(),
      onBug: (error) => bugs.push(error),
      onAnswered: (route, status) => metrics.count(route, status),
    });
    const statuses = new Map<number, number>();
    const untilMs = performance.now() + MS_MAX;
    for (let n = 0; n < COUNT && performance.now() < untilMs; n += 1) {
      const call = mutated(random, pick);
      const { status } = await door.answer(call);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500)
        throw new Error(
          `${status} for ${call.method} ${call.path} ${String(call.query)} (seed ${SEED}, ${n})`,
        );
    }
    streams.close();
    records[Symbol.dispose]();
    expect(bugs).toEqual([]);
    for (const expected of [200, 400, 404, 405]) expect([...statuses.keys()]).toContain(expected);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500);
  });
});

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

/** Without those that look at all of the machine or the disk each time. */
const QUICK = ROUTES.filter(
  ({ operation }) => !['doctor', 'workspaces', 'clean', 'merge', 'prune'].includes(operation),
);

/** Mostly a real route; its values, its query, its body and its headers are anything. Nothing of it can start a run. */
function mutated(random: () => number, pick: <T>(some: readonly T[]) => T): Call {
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
  const headers: Record<string, string> = { host: 'localhost' };
  if (random() < 0.9)
    headers['content-type'] = pick(['application/json', 'application/json; charset=utf-8', 'text/plain', '']);
  if (random() < 0.2)
    headers[pick(['idempotency-key', 'last-event-id', 'accept', 'authorization', 'origin'])] = pick(ODD);
  return {
    method,
    path,
    query,
    headers,
    countOf: (name) => (headers[name] === undefined ? 0 : 1),
    from: SOCKET,
    body: async () => bytes,
    signal: AbortSignal.timeout(30_000),
  };
}

function spoiled(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const odd = String.fromCharCode(Math.floor(random() * 0x120));
  return random() < 0.5 ? text.slice(0, at) + odd + text.slice(at + 1) : text.slice(0, at);
}

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
