/** The page over HTTP, without a browser: what is served to whom, and how a token becomes a session. */
import { mkdtempSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { Sessions } from '../src/doors/http/sessions.ts';
import { Records } from '../src/store/records/records.ts';
import { SESSIONS_MAX } from '../src/store/records/sessions.ts';
import { listenTo, startServer, type Answered, type TestServer } from './fixtures/http.ts';

const SCRIPT = `// ${'x'.repeat(5000)}\n`;
const PLACES = ['/', '/new', '/compare?a=shop/x-1', '/settings', '/r/shop/x-1', '/r/shop/x-1?task=a&t=5'];

let server: TestServer;
let pageDirectory: string;
let origin: string;

beforeAll(async () => {
  pageDirectory = mkdtempSync(path.join(tmpdir(), 'bosun-page-'));
  await mkdir(path.join(pageDirectory, 'assets'));
  await writeFile(path.join(pageDirectory, 'index.html'), '<!doctype html><title>bosun</title>');
  await writeFile(path.join(pageDirectory, 'assets', 'index-abc.js'), SCRIPT);
  server = await startServer({ pageDirectory, beatMs: 100 });
  origin = server.serving.url;
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server[Symbol.asyncDispose]();
});

const openAt = (to: TestServer, at: string, headers: Record<string, string> = {}): Promise<Answered> =>
  to.ask('GET', at, { token: undefined, headers });
const open = (at: string, headers: Record<string, string> = {}): Promise<Answered> =>
  openAt(server, at, headers);

interface SignedIn {
  cookie: string;
  /** What stands before each path that it is good at. */
  place: string;
  answered: Answered;
}

async function signIn(at: TestServer, token = at.serving.token): Promise<SignedIn> {
  const headers = { origin: at.serving.url };
  const answered = await at.ask('POST', '/api/session', { token, body: {}, headers });
  const [set = ''] = [answered.headers['set-cookie']].flat();
  return { cookie: set.split(';')[0]!, place: answered.json?.place, answered };
}

describe('the page', () => {
  it.each(PLACES)('is at %s for everybody, under a policy that lets nothing else in', async (place) => {
    const answered = await open(place);
    expect(answered).toMatchObject({ status: 200, text: '<!doctype html><title>bosun</title>' });
    expect(answered.headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types bosun",
      'x-content-type-options': 'nosniff',
    });
  });

  it('has assets that are kept for good, compressed for who can read that', async () => {
    const plain = await open('/assets/index-abc.js');
    expect(plain).toMatchObject({ status: 200, text: SCRIPT });
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const { headers } = await open('/assets/index-abc.js', { 'accept-encoding': 'br, gzip' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(Number(headers['content-length'])).toBeLessThan(200);
    const response = await fetch(`${origin}/assets/index-abc.js`);
    expect(await response.text()).toBe(SCRIPT);
  });

  it('is no way to any other file', async () => {
    for (const at of ['/assets/', '/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/none.js'])
      expect((await open(at)).status, at).toBe(404);
    for (const at of ['/index.html', '/r/', '/r/shop', '/r/shop/x/y', '/new/', '/package.json'])
      expect((await open(at)).status, at).toBe(401);
    expect((await server.ask('POST', '/', { body: {} })).status).toBe(404);
  });

  it('may be linked to from other sites, which cannot read it, and under its own names alone', async () => {
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect((await open('/', link)).status).toBe(200);
    expect((await open('/', { ...link, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' })).status).toBe(
      403,
    );
    expect((await open('/', { ...link, 'sec-fetch-dest': 'iframe' })).status).toBe(403);
    expect((await open('/', { ...link, host: 'evil.test' })).status).toBe(421);
    expect((await open('/api/repositories', link)).status).toBe(403);
  });

  it('says how to build it where it is not built', async () => {
    await using other = await startServer({ pageDirectory: path.join(pageDirectory, 'none') });
    const { status, text } = await other.ask('GET', '/', { token: undefined });
    expect([status, text]).toEqual([503, expect.stringContaining('npm run build:web')]);
  });
});

describe('a session', () => {
  it('is given for a token, as a place and a cookie for it that no script can read', async () => {
    const { cookie, place, answered } = await signIn(server);
    expect(answered.json).toMatchObject({ role: 'admin', by: { kind: 'person' }, version: '0.0.0' });
    expect(place).toMatch(/^\/s\/[\w-]{22}$/);
    expect(String(answered.headers['set-cookie'])).toMatch(
      new RegExp(`^bosun=[\\w-]{43}; Path=${place}/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
    );
    expect(cookie).not.toContain(server.serving.token!);
    const { place: _, ...me } = answered.json;
    expect((await open(`${place}/api/session`, { cookie })).json).toEqual(me);
    const more = `other=1; bosun=x; ${cookie}; more=2`;
    expect((await open(`${place}/api/repositories`, { cookie: more })).status).toBe(200);
  });

  it('is in two halves, and neither is of use to another server of this host', async () => {
    // Of its own, since whoever guesses so often has to wait.
    await using alone = await startServer({ pageDirectory });
    const { cookie, place } = await signIn(alone);
    const other = await signIn(alone);
    expect(other.place).not.toBe(place);
    for (const [at, headers] of [
      ['/api/session', { cookie }],
      [`${place}/api/session`, {}],
      [`${other.place}/api/session`, { cookie }],
      [`${place.slice(0, -1)}/api/session`, { cookie }],
      [`${place}${place}/api/session`, { cookie }],
    ] as const)
      expect((await openAt(alone, at, headers)).status, at).toBe(401);
    for (const wrong of ['bosun=', cookie.slice(0, -1), `bosun=${'x'.repeat(5000)}`, `${cookie}.1`])
      expect((await openAt(alone, `${place}/api/session`, { cookie: wrong })).status, wrong).toBe(401);
    // Only what a page asks for is at a place.
    for (const at of ['/health', '/metrics', '/mcp', '/s/x/api/session'])
      expect((await openAt(alone, `${place}${at}`, { cookie })).status, at).toBe(401);
  });

  it('changes nothing for a page of another origin, nor for one that does not say its own', async () => {
    const { cookie, place } = await signIn(server);
    const post = (headers: Record<string, string>): Promise<number> =>
      server
        .ask('POST', `${place}/api/repositories`, {
          token: undefined,
          body: { directory: '/nowhere' },
          headers: { cookie, ...headers },
        })
        .then(({ status }) => status);
    expect(await post({})).toBe(403);
    expect(await post({ origin: 'http://evil.test' })).toBe(403);
    expect(await post({ origin: `http://127.0.0.1:${Number(new URL(origin).port) + 1}` })).toBe(403);
    expect(await post({ origin, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await post({ origin, 'content-type': 'text/plain' })).toBe(415);
    expect(await post({ origin })).toBe(409);
  });

  it('ends by itself, and makes room for later ones', () => {
    using records = new Records(mkdtempSync(path.join(tmpdir(), 'bosun-records-')));
    const sessions = new Sessions(records.sessions);
    const begin = (nowMs: number): Parameters<Sessions['find']>[0] => {
      const { cookie, place } = sessions.begin({ headers: {} }, 'page', { isSecure: true, nowMs });
      expect(cookie).toMatch(/; Secure$/);
      return { place: place.slice('/s/'.length), headers: { cookie } };
    };
    const first = begin(0);
    expect(sessions.find(first, 1)).toMatchObject({ subject: 'page' });
    expect(sessions.find(first, 31 * 24 * 3_600_000)).toBeUndefined();
    for (let n = 1; n < SESSIONS_MAX; n += 1) begin(n);
    expect(sessions.find(first, 1)).toBeDefined();
    begin(SESSIONS_MAX);
    expect(sessions.find(first, 1)).toBeUndefined();
  });

  it('goes on when the server ends and starts again, but not where only tokens count', async () => {
    const { cookie, place } = await signIn(server);
    const state = process.env.XDG_STATE_HOME!;
    const { mode } = statSync(path.join(state, 'bosun', 'records.db'));
    expect(mode & 0o777).toBe(0o600);
    for (const [tokensOnly, status] of [
      [false, 200],
      [true, 401],
    ] as const) {
      const socketPath = path.join(state, `other-${status}`, 'bosun.sock');
      await using other = await startServer({ pageDirectory, socketPath, tokensOnly, state });
      const asked = { token: undefined, headers: { cookie } };
      expect((await other.ask('GET', `${place}/api/session`, asked)).status).toBe(status);
    }
  });

  it('of a token has its role, and ends with it, also where a later one has its name', async () => {
    const around = { cwd: '/', by: { kind: 'person', name: 'anna' } } as const;
    const made = await perform('addToken', { name: 'looks', role: 'read' }, around);
    const { cookie, place, answered } = await signIn(server, made.token);
    expect(answered.json).toMatchObject({ role: 'read', by: { kind: 'program' } });
    const refused = await server.ask('POST', `${place}/api/repositories`, {
      token: undefined,
      body: { directory: '/' },
      headers: { cookie, origin },
    });
    expect(refused.status).toBe(403);
    const streams = [
      listenTo(origin, '/api/events', { token: made.token }),
      listenTo(origin, `${place}/api/events`, { headers: { cookie, authorization: [] } }),
    ];
    expect(await Promise.all(streams.map(({ status }) => status))).toEqual([200, 200]);
    await perform('revokeToken', { name: 'looks' }, around);
    await perform('addToken', { name: 'looks', role: 'admin' }, around);
    expect((await open(`${place}/api/session`, { cookie })).status).toBe(401);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('is ended by its browser, with its streams, for whoever has its cookie', async () => {
    const { cookie, place } = await signIn(server);
    const asked = { token: undefined, headers: { cookie, origin } };
    const stream = listenTo(origin, `${place}/api/events`, { headers: { cookie, authorization: [] } });
    expect(await stream.status).toBe(200);
    const again = await server.ask('POST', `${place}/api/session`, { ...asked, body: {} });
    expect(again.json.place).toBe(place); // a browser that signs in once more has one cookie, not two
    await stream.ended;
    expect((await open(`${place}/api/session`, { cookie })).status).toBe(401);
    asked.headers.cookie = String(again.headers['set-cookie']).split(';')[0]!;
    const ended = await server.ask('DELETE', `${place}/api/session`, asked);
    expect(String(ended.headers['set-cookie'])).toContain(`bosun=; Path=${place}/; Max-Age=0; `);
    expect((await open(`${place}/api/session`, asked.headers)).status).toBe(401);
  });
});
