/** The page over HTTP, without a browser: what is served to whom, and how a token becomes a session. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { Sessions } from '../src/doors/http/sessions.ts';
import { startServer, type Answered, type TestServer } from './fixtures/http.ts';

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
  server = await startServer({ pageDirectory });
  origin = server.serving.url;
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await server[Symbol.asyncDispose]();
});

const open = (at: string, headers: Record<string, string> = {}): Promise<Answered> =>
  server.ask('GET', at, { token: undefined, headers });

async function signIn(token = server.serving.token): Promise<{ cookie: string; answered: Answered }> {
  const answered = await server.ask('POST', '/api/session', { token, body: {}, headers: { origin } });
  const [set = ''] = [answered.headers['set-cookie']].flat();
  return { cookie: set.split(';')[0]!, answered };
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
  it('is given for a token, in a cookie that no script and no other site can use', async () => {
    const { cookie, answered } = await signIn();
    expect(answered.json).toMatchObject({ role: 'admin', by: { kind: 'person' }, version: '0.0.0' });
    expect(String(answered.headers['set-cookie'])).toMatch(
      /^bosun-[\da-f]{8}=[\w.-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(server.serving.token!);
    expect((await open('/api/session', { cookie })).json).toEqual(answered.json);
    expect((await open('/api/repositories', { cookie: `other=1; ${cookie}; more=2` })).status).toBe(200);
  });

  it('changes nothing for a page of another origin, nor for one that does not say its own', async () => {
    const { cookie } = await signIn();
    const post = (headers: Record<string, string>): Promise<number> =>
      server
        .ask('POST', '/api/repositories', {
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

  it('is nobody’s without the signature, or when it is over', async () => {
    const { cookie } = await signIn();
    const [name, value] = cookie.split('=') as [string, string];
    const [subject, expires, signature] = value.split('.') as [string, string, string];
    const forged = createHmac('sha256', 'key').update(`${subject}.${expires}`).digest('base64url');
    for (const wrong of [
      `${subject}.${expires}.${forged}`,
      `${subject}.${Number(expires) + 1}.${signature}`,
      `${Buffer.from('token x').toString('base64url')}.${expires}.${signature}`,
      `${subject}.${expires}`,
      '',
      'x'.repeat(5000),
    ])
      expect((await open('/api/session', { cookie: `${name}=${wrong}` })).status).toBe(401);
    const sessions = new Sessions(Buffer.from('key'));
    const [own = ''] = sessions.cookieFor('page', { isSecure: false, nowMs: 0 }).split(';');
    expect(sessions.subjectOf(own, 1)).toBe('page');
    expect(sessions.subjectOf(own, 31 * 24 * 3_600_000)).toBeUndefined();
  });

  it('goes on when the server ends and starts again, but not where only tokens count', async () => {
    const { cookie } = await signIn();
    const key = path.join(process.env.XDG_STATE_HOME!, 'bosun', 'serve', 'page.key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(key, 'utf8')).toHaveLength(43);
    const state = process.env.XDG_STATE_HOME!;
    for (const [tokensOnly, status] of [
      [false, 200],
      [true, 401],
    ] as const) {
      const socketPath = path.join(state, `other-${status}`, 'bosun.sock');
      await using other = await startServer({ pageDirectory, socketPath, tokensOnly, state });
      const asked = { token: undefined, headers: { cookie } };
      expect((await other.ask('GET', '/api/session', asked)).status).toBe(status);
    }
  });

  it('of a token has its role, and ends with it, also where a later one has its name', async () => {
    const around = { cwd: '/', by: { kind: 'person', name: 'anna' } } as const;
    const made = await perform('addToken', { name: 'looks', role: 'read' }, around);
    const { cookie, answered } = await signIn(made.token);
    expect(answered.json).toMatchObject({ role: 'read', by: { kind: 'program' } });
    const refused = await server.ask('POST', '/api/repositories', {
      token: undefined,
      body: { directory: '/' },
      headers: { cookie, origin },
    });
    expect(refused.status).toBe(403);
    await perform('revokeToken', { name: 'looks' }, around);
    expect((await open('/api/session', { cookie })).status).toBe(401);
    await perform('addToken', { name: 'looks', role: 'admin' }, around);
    expect((await open('/api/session', { cookie })).status).toBe(401);
  });

  it('is ended by its browser', async () => {
    const { cookie } = await signIn();
    const ended = await server.ask('DELETE', '/api/session', {
      token: undefined,
      headers: { cookie, origin },
    });
    expect(String(ended.headers['set-cookie'])).toMatch(/^bosun-[\da-f]{8}=; Path=\/; Max-Age=0; /);
  });
});
