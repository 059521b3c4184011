/** The HTTP door under those who mean it no good, or read too slowly: each gets a clear answer, and nobody else notices. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflow } from '../src/definition/builder.ts';
import { perform } from '../src/operations/perform.ts';
import { createRun } from '../src/run/create-run.ts';
import { openJournal } from '../src/run/journal.ts';
import { listenTo, openShop, startServer, type TestServer } from './fixtures/http.ts';
import type { TestRepository } from './fixtures/repository.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;
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
async function openRun(within = repository) {
  const journal = await openJournal(within.path);
  const { store } = journal;
  const made = workflow({ name: 'written', tasks: { one: { run: 'true' } } });
  const head = await within.git('rev-parse', 'HEAD');
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

describe('readers that take nothing', { timeout: 60_000 }, () => {
  it('are let go, so that they hold no connection', async () => {
    await using patient = await openShop({ 'README.md': 'x' }, { stalledMs: 300 });
    const { server, repository, at } = patient;
    await using run = await openRun(repository);
    const lines = 40;
    for (let n = 0; n < lines; n += 1) await run.print('x'.repeat(500_000));
    await using large = await openRun(repository);
    await large.print('x'.repeat(lines * 500_000)); // a page has one event in any case
    const to = new URL(server.serving.url);
    const own = `Host: ${to.host}\r\nAuthorization: Bearer ${server.serving.token}\r\n\r\n`;
    const read = async (route: string, waitMs: number): Promise<number> => {
      const socket = connect(Number(to.port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${route} HTTP/1.1\r\nConnection: close\r\n${own}`);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      let bytes = 0;
      socket.on('data', (piece: Buffer) => (bytes += piece.length));
      await once(socket, 'close');
      return bytes;
    };
    for (const route of [`${at}/runs/${run.id}/log`, `${at}/runs/${large.id}/events?limit=1000`]) {
      const [whole, cut] = await Promise.all([read(route, 0), read(route, 2000)]);
      expect(whole).toBeGreaterThan(lines * 500_000);
      expect(cut, route).toBeLessThan(lines * 500_000);
    }
    expect(server.bugs).toEqual([]);
  });
});

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
    const rest = Array.from({ length: 200 }, () => listenTo(url, `${at}/events`, { token }));
    await Promise.all(rest.map(async ({ status }) => expect(await status).toBe(200)));
    await using beyond = listenTo(url, `${at}/events`, { token });
    expect(await beyond.status, 'nobody takes all').toBe(503);
    const other = await perform('addToken', { name: 'other', role: 'read' }, { cwd: '/', by: ANNA });
    await using somebody = listenTo(url, `${at}/events`, { token: other.token });
    expect(await somebody.status).toBe(200);
    await Promise.all([...readers, ...rest].map((reader) => reader[Symbol.asyncDispose]()));
  });
});

describe('a page of events', () => {
  it('is no larger than one may be, whatever agents printed, and the next ones have the rest', async () => {
    await using run = await openRun();
    const prints = 100;
    for (let n = 0; n < prints; n += 1) await run.print('\n'.repeat(65_536));
    let [after, count] = ['', 0];
    for (;;) {
      const { json, text } = await server.ask('GET', `${at}/runs/${run.id}/events?limit=1000${after}`);
      expect(text.length).toBeLessThan(2_000_000);
      if (json.events.length === 0) break;
      count += json.events.filter(({ event }: any) => event.type === 'attempt.output').length;
      after = `&after=${json.next}`;
    }
    expect(count).toBe(prints);
  });
});
