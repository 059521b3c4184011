/** Who may come in over HTTP, and what is said to whoever sends something wrong. Nothing of it starts anything. */
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { listenTo, openShop, startServer, type TestServer } from './fixtures/http.ts';
import type { TestRepository } from './fixtures/repository.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;
/** Bodies that are no JSON are given as they are sent. */
const TOO_DEEP = 'nested';
const NOT_UTF8 = 'not UTF-8';
function bytesOf(body: unknown): unknown {
  if (body === TOO_DEEP) return Buffer.from(`{"argv":${'['.repeat(100_000)}`);
  if (body === NOT_UTF8) return Buffer.from([0x7b, 0xff, 0x7d]);
  return typeof body === 'string' ? Buffer.from(body) : body;
}

const shop = openShop({ 'README.md': 'hello' });
let server: TestServer;
let repository: TestRepository;
let at: string;

beforeAll(async () => ({ server, repository, at } = await shop));
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

describe('who may come in', () => {
  it('is nobody without a token, whatever is asked', async () => {
    for (const token of [undefined, 'x', 'bosun_x', `${server.serving.token}x`]) {
      const refused = await server.ask('GET', '/api/repositories', { token });
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('Bearer');
      expect(refused.json).toMatchObject({ status: 401, code: 'not-trusted' });
    }
    expect((await server.ask('GET', '/nowhere', { token: undefined })).status).toBe(401);
    expect(
      (await server.ask('GET', `/api/repositories?token=${server.serving.token}`, { token: undefined }))
        .status,
    ).toBe(401);
  });

  it('is our own user over the socket, which nobody else can enter', async () => {
    const { socketPath } = server.serving;
    expect(statSync(path.dirname(socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    const { stdout } = await promisify(execFile)('curl', [
      '-s',
      '--unix-socket',
      socketPath,
      'http://localhost/api/repositories',
    ]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'shop' }]);
    const led = await promisify(execFile)('curl', [
      '-s',
      '--unix-socket',
      socketPath,
      'http://evil.test/api/repositories',
    ]);
    expect(JSON.parse(led.stdout)).toMatchObject({ status: 421 });
  });

  it('may do what the role of the token says, until it is revoked or over', async () => {
    const around = { cwd: repository.path, by: ANNA };
    const made = await perform('addToken', { name: 'looks', role: 'read' }, around);
    const brief = await perform('addToken', { name: 'brief', role: 'admin', expires: '1ms' }, around);
    const works = await perform('addToken', { name: 'works', role: 'run' }, around);
    const state = path.join(process.env.XDG_STATE_HOME!, 'bosun');
    expect(statSync(path.join(state, 'records.db')).mode & 0o777).toBe(0o600);
    const kept = ['records.db', 'records.db-wal']
      .map((name) => readFileSync(path.join(state, name), 'latin1'))
      .join('');
    expect(kept).toContain('looks');
    for (const { token } of [made, brief, works]) expect(kept).not.toContain(token);
    const as = (token: string, method: string, route: string, body?: unknown) =>
      server.ask(method, route, { token, body }).then(({ status }) => status);
    expect(await as(made.token, 'GET', '/api/repositories')).toBe(200);
    expect(await as(made.token, 'POST', `${at}/exec`, { argv: ['true'] })).toBe(403);
    expect(await as(made.token, 'POST', `${at}/runs/x/cancel`, {})).toBe(403);
    expect(await as(works.token, 'POST', `${at}/runs/x/cancel`, {})).toBe(404);
    expect(await as(works.token, 'POST', '/api/repositories', { directory: '/' })).toBe(403);
    expect(await as(works.token, 'POST', `${at}/runs`, { trust: true })).toBe(403);
    expect(await as(works.token, 'POST', `${at}/runs/x/merge`, { unfenced: true })).toBe(403);
    expect(await as(brief.token, 'GET', '/api/repositories')).toBe(401);
    expect((await perform('tokens', {}, around)).map(({ name, role }) => `${name} ${role}`)).toEqual([
      'brief admin',
      'looks read',
      'works run',
    ]);
    await expect(perform('addToken', { name: 'looks', role: 'run' }, around)).rejects.toThrow('already');
    await expect(perform('addToken', { name: 'a b', role: 'run' }, around)).rejects.toThrow('name');
    await expect(perform('addToken', { name: 'c', role: 'run', expires: 'soon' }, around)).rejects.toThrow(
      '12h',
    );
    await using stream = listenTo(server.serving.url, '/api/events', { token: made.token });
    expect(await stream.status).toBe(200);
    await perform('revokeToken', { name: 'looks' }, around);
    expect(await as(made.token, 'GET', '/api/repositories')).toBe(401);
    await stream.ended; // at its next beat
    await expect(perform('revokeToken', { name: 'looks' }, around)).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('is no page of another site, whatever token it has', async () => {
    const { port } = new URL(server.serving.url);
    const ways: Record<string, string | string[]>[] = [
      { host: `evil.test:${port}` },
      { host: 'evil.test' },
      { host: '127.0.0.1' }, // without the port it is another server's
      { host: `localhost.evil.test:${port}` },
      { origin: 'http://evil.test' },
      { origin: 'null' },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: `http://127.0.0.1:${port}.evil.test` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of ways) {
      const refused = await server.ask('POST', `${at}/exec`, { headers, body: { argv: ['true'] } });
      expect([400, 403, 421], JSON.stringify(headers)).toContain(refused.status);
      expect(Object.keys(refused.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const simple = await server.ask('POST', `${at}/exec`, {
      headers: { 'content-type': 'text/plain' },
      body: { argv: ['true'] },
    });
    expect(simple.status).toBe(415);
    const asked = await server.ask('OPTIONS', `${at}/exec`, {
      headers: { origin: 'http://evil.test', 'access-control-request-method': 'POST' },
    });
    expect(asked.status).toBe(403);
    const own = {
      origin: `http://localhost:${port}`,
      host: `localhost:${port}`,
      'sec-fetch-site': 'same-origin',
    };
    expect((await server.ask('GET', '/api/repositories', { headers: own })).status).toBe(200);
    expect((await server.ask('GET', `${at}/runs`)).json).toEqual([]); // none of them started anything
  });

  it('is made to wait after guessing, and others are not', async () => {
    await using other = await startServer({ host: '127.0.0.2' });
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => other.ask('GET', '/api/repositories', { token: `guess-${n}` })),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses).toContain(429);
    expect(guesses.find(({ status }) => status === 429)!.headers['retry-after']).toMatch(/^\d+$/);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(25);
    // All programs of a machine share its address: none of them can lock the others out by guessing.
    const known = await Promise.all(Array.from({ length: 5 }, () => other.ask('GET', '/api/repositories')));
    expect(known.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await other.ask('GET', '/api/repositories', { token: 'guess' })).status).toBe(429);
  });
});

describe('what is wrong', () => {
  it.each<[string, string, unknown, number, string | undefined]>([
    ['POST', '/exec', '{', 400, ''],
    ['POST', '/exec', '[]', 400, ''],
    ['POST', '/exec', '"x"', 400, ''],
    ['POST', '/exec', NOT_UTF8, 400, ''],
    ['POST', '/exec', '{"usd":1,"usd":2}', 400, ''],
    ['POST', '/exec', TOO_DEEP, 400, ''],
    ['POST', '/exec', { argv: 'ls' }, 400, '/argv'],
    ['POST', '/exec', { argv: [5] }, 400, '/argv'],
    ['POST', '/exec', { usd: -1, prompt: 'x' }, 400, '/usd'],
    ['POST', '/exec', { toString: 1 }, 400, '/toString'],
    ['POST', '/exec', '{"__proto__":{"prompt":"x"}}', 400, '/__proto__'],
    ['POST', '/exec', { unfenced: true, prompt: 'x' }, 400, '/unfenced'],
    ['POST', '/exec', { 'a/b~c': 1 }, 400, '/a~1b~0c'],
    ['POST', '/exec', { prompt: 'x', argv: ['y'] }, 400, undefined],
    ['POST', '/exec?x=1', { argv: ['true'] }, 400, ''],
    ['GET', '/runs?limit=x', undefined, 400, 'limit'],
    ['GET', '/runs?limit=1&limit=2', undefined, 400, 'limit'],
    ['GET', '/runs?__proto__=1', undefined, 400, '__proto__'],
    ['GET', '/runs?cwd=/', undefined, 400, 'cwd'],
    ['DELETE', '/runs', undefined, 405, undefined],
    ['GET', '/nothing', undefined, 404, undefined],
  ])('with %s %s of %j is told with its place', async (method, route, body, status, pointer) => {
    const refused = await server.ask(
      method,
      `${at}${route}`,
      body === undefined ? {} : { body: bytesOf(body) },
    );
    expect(refused.json).toMatchObject({ status, detail: expect.any(String), code: expect.any(String) });
    expect(refused.headers['content-type']).toBe('application/problem+json');
    if (pointer !== undefined) expect(refused.json.errors).toMatchObject([{ pointer }]);
  });
});
