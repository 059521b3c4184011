/** Codex that is logged in on this machine, with a key or with ChatGPT: what is sent, where to, and for whom. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConfigFile, ProviderConfig } from '../src/contract/config.ts';
import { liveTransport } from '../src/gateway/live/live.ts';
import { isReadyFor, resolveProviders as resolve, type Provider } from '../src/gateway/keys/providers.ts';
import { LOGINS, RUNTIMES_BY_NAME } from '../src/runtime/runtimes.ts';
import { OPENCODE } from '../src/runtime/opencode/descriptor.ts';
import type { ModelRequest, Transport } from '../src/gateway/transport.ts';
import { ACCOUNT, chatgptLogin, jwt } from './fixtures/chatgpt-login.ts';
import { NEVER, openUpstream, requestOf, textOf } from './fixtures/upstream.ts';

/** As Codex 0.166.0 sends it with a key; with a login there are two headers more, and another token. */
const CODEX = {
  authorization: 'Bearer bosun-placeholder',
  originator: 'codex_exec',
  'user-agent': 'codex_exec/0.166.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.166.0)',
  'session-id': 's-1',
};

const resolveProviders = (configs: ConfigFile[], env: NodeJS.ProcessEnv) => resolve(configs, env, LOGINS);

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'bosun-test-'));
  file = path.join(home, '.codex', 'auth.json');
  mkdirSync(path.join(home, '.codex'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(home, { recursive: true });
});

const openai = (config: ProviderConfig = {}, env: NodeJS.ProcessEnv = {}): Provider =>
  resolveProviders([{ file: 'config.yaml', isUsers: true, config: { providers: { openai: config } } }], {
    HOME: home,
    ...env,
  }).get('openai')!;

function transportTo(
  url: string,
  config: ProviderConfig = {},
  env: NodeJS.ProcessEnv = {},
): Transport & AsyncDisposable {
  const provider = openai({ 'base-url': url, login: 'agent', patience: '1ms', ...config }, env);
  return liveTransport({ providers: new Map([['openai', provider]]), env: {} });
}

function codexRequest(more: Partial<ModelRequest> = {}): ModelRequest {
  return requestOf({ provider: 'openai', dialect: 'openai', path: '/responses', headers: CODEX, ...more });
}

function write(auth: object | string, mode = 0o600): void {
  writeFileSync(file, typeof auth === 'string' ? auth : JSON.stringify(auth), { mode });
  chmodSync(file, mode);
}

/** With an access token or with parts of the login as a test wants them. */
function logIn(parts: Record<string, unknown> = {}): string {
  const { auth, token } = chatgptLogin();
  write({ ...auth, tokens: { ...auth.tokens, ...parts } });
  return token;
}

describe('the login of Codex with ChatGPT', () => {
  it('is sent in place of the placeholder, as Codex itself would, and the answer says whose it was', async () => {
    const token = logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(`${upstream.url}/backend-api/codex`);
    const response = await transport.send(codexRequest(), NEVER);
    expect(response.ownLogin).toBe(true);
    const [got] = upstream.received;
    expect(got!.url).toBe('/backend-api/codex/responses');
    expect(got!.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'chatgpt-account-id': ACCOUNT,
      originator: 'codex_exec',
      'user-agent': CODEX['user-agent'],
      'session-id': 's-1',
      version: '0.166.0',
    });
    expect(JSON.stringify(got)).not.toContain('placeholder');
  });

  it('goes where Codex would send it, and a key where keys go', async () => {
    const token = logIn();
    expect(openai().login!.baseUrl).toBe('https://chatgpt.com/backend-api/codex');
    expect(openai().baseUrl).toBe('https://api.openai.com/v1');
    await using chatgpt = await openUpstream((response) => response.end('ok'));
    await using api = await openUpstream((response) => response.end('ok'));
    const found = openai({ login: 'agent' }, { OPENAI_API_KEY: 'made-up-key' });
    const provider = { ...found, baseUrl: api.url, login: { ...found.login!, baseUrl: chatgpt.url } };
    await using transport = liveTransport({ providers: new Map([['openai', provider]]), env: {} });
    await transport.send(codexRequest(), NEVER);
    await transport.send(codexRequest({ headers: { 'user-agent': 'opencode/1.18.33' } }), NEVER);
    expect(chatgpt.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${token}`]);
    expect(api.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer made-up-key']);
  });

  it('serves where there is no key, and goes before a key or to another address only where the user says so', () => {
    logIn();
    expect(openai().login).toBeDefined();
    expect(openai({}, { OPENAI_API_KEY: 'made-up' }).login).toBeUndefined();
    expect(openai({ login: 'agent' }, { OPENAI_API_KEY: 'made-up' }).login).toBeDefined();
    expect(openai({ login: 'key' }).login).toBeUndefined();
    expect(openai({}, { OPENAI_BASE_URL: 'http://other.test' }).login).toBeUndefined();
    expect(openai({ 'base-url': 'http://other.test' }).login).toBeUndefined();
    expect(openai({ 'base-url': 'http://other.test', login: 'agent' }).login!.baseUrl).toBe(
      'http://other.test',
    );
    const providers = { openai: { 'base-url': 'http://evil.test', login: 'agent' as const } };
    const planted = resolveProviders([{ file: 'f', isUsers: false, config: { providers } }], { HOME: home });
    expect(planted.get('openai')!.login!.baseUrl).toBe('https://chatgpt.com/backend-api/codex');
  });

  it('makes Codex alone ready to ask', () => {
    logIn();
    expect(
      (['codex', 'opencode', 'acp', 'claude-code'] as const).map((each) =>
        isReadyFor(openai(), RUNTIMES_BY_NAME[each].logins),
      ),
    ).toEqual([true, false, false, false]);
    expect(isReadyFor(openai({}, { OPENAI_API_KEY: 'made-up' }), OPENCODE.logins)).toBe(true);
  });

  it.each([
    ['another program', { headers: { ...CODEX, 'user-agent': 'opencode/1.18.33' } }],
    ['another way to ask', { path: '/chat/completions' }],
    ['what is no question to a model', { path: '/models?client_version=0.166.0', method: 'GET' }],
    ['what only begins like one', { path: '/responses/compact' }],
  ])('does not serve %s, which gets the key, or an error that says what to set', async (_, more) => {
    const token = logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, {}, { OPENAI_API_KEY: 'made-up-key' });
    expect((await transport.send(codexRequest(more), NEVER)).ownLogin).toBeUndefined();
    expect(upstream.received[0]!.headers).toMatchObject({ authorization: 'Bearer made-up-key' });
    expect(JSON.stringify(upstream.received)).not.toContain(token);
    expect(JSON.stringify(upstream.received)).not.toContain(ACCOUNT);
    await using direct = liveTransport({ providers: resolveProviders([], { HOME: home }), env: {} });
    await expect(direct.send(codexRequest(more), NEVER)).rejects.toThrow(
      `openai has the login of Codex in ${file} with ChatGPT, for what agents that are Codex ask models; others need a key: set OPENAI_API_KEY`,
    );
  });

  it('names the account that the file names, whatever the agent sends; without that, the one of the token', async () => {
    logIn({ account_id: 'made-up-other' });
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    await transport.send(codexRequest({ headers: { ...CODEX, 'chatgpt-account-id': 'evil' } }), NEVER);
    logIn({ account_id: null });
    await transport.send(codexRequest(), NEVER);
    expect(upstream.received.map(({ headers }) => headers['chatgpt-account-id'])).toEqual([
      'made-up-other',
      ACCOUNT,
    ]);
  });

  it('that has expired is an error that says how to renew it; nothing is sent, and the file stays as it is', async () => {
    const { auth } = chatgptLogin({ expiresMs: Date.now() - 1000 });
    write(auth);
    const before = [readFileSync(file, 'utf8'), statSync(file).mtimeMs];
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const sent = transport.send(codexRequest(), NEVER);
    await expect(sent).rejects.toMatchObject({ kind: 'auth', status: 401 });
    await expect(sent).rejects.toThrow(
      `no login for openai: the login of Codex has expired; run \`codex\` once to renew the login, or \`codex login\` for a new one (it is in ${file})`,
    );
    expect(upstream.received).toEqual([]);
    expect([readFileSync(file, 'utf8'), statSync(file).mtimeMs]).toEqual(before);
    const token = logIn(); // as Codex does when it runs
    expect((await transport.send(codexRequest(), NEVER)).status).toBe(200);
    expect(upstream.received[0]!.headers.authorization).toBe(`Bearer ${token}`);
  });

  it('that expires while it is known is not sent any more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    write(chatgptLogin({ expiresMs: Date.now() + 60_000 }).auth);
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    await transport.send(codexRequest(), NEVER);
    vi.setSystemTime(Date.now() + 60_000);
    await expect(transport.send(codexRequest(), NEVER)).rejects.toThrow('has expired');
    expect(upstream.received).toHaveLength(1);
  });

  it('that the provider refuses is asked for once, and the error says how to renew it', async () => {
    const token = logIn();
    await using upstream = await openUpstream((response) => response.writeHead(401).end(`no: ${token}`));
    await using transport = transportTo(upstream.url);
    await expect(transport.send(codexRequest(), NEVER)).rejects.toThrow(
      'openai does not accept the login of Codex; run `codex` once to renew the login',
    );
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['no token', { access_token: undefined }, 'there is no login of Codex in'],
    ['a token that is none', { access_token: 'made-up' }, 'there is no login of Codex in'],
    ['claims that are none', { access_token: 'made.up.token' }, 'there is no login of Codex in'],
    [
      'no account',
      { access_token: jwt({ exp: 9e9 }), account_id: undefined },
      'names no account; run `codex`',
    ],
    ['an account with a line break', { account_id: 'a\r\nx-evil: 1' }, 'there is no login of Codex in'],
  ])('with %s is an error which shows nothing of it', async (_, parts, message) => {
    const token = logIn(parts);
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const error: unknown = await transport.send(codexRequest(), NEVER).catch((reason: unknown) => reason);
    expect((error as Error).message).toContain(message);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(token);
    expect(upstream.received).toEqual([]);
  });

  it('that others may read is refused with the command that mends it', async () => {
    logIn();
    chmodSync(file, 0o640);
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    await expect(transport.send(codexRequest(), NEVER)).rejects.toThrow(
      `others may read the login file ${file} (mode 640); run: chmod 600 ${file}`,
    );
    expect(upstream.received).toEqual([]);
  });

  it('comes back in no answer, no description and no printed object', async () => {
    const { auth, token, secrets } = chatgptLogin();
    write(auth);
    await using upstream = await openUpstream((response) =>
      response.writeHead(400, { 'x-debug': token }).end(`you sent ${token}`),
    );
    await using transport = transportTo(upstream.url);
    const response = await transport.send(codexRequest(), NEVER);
    expect(JSON.stringify(response.headers) + (await textOf(response))).not.toContain(token);
    const provider = openai();
    await provider.login!.secret.read();
    const printed = inspect(provider, { depth: 10, showHidden: true }) + JSON.stringify(provider);
    expect(secrets.filter((secret) => printed.includes(secret))).toEqual([]);
    expect(provider).toMatchObject({ hasKey: true, isKeyNeeded: true });
  });

  it.each([
    ['says so, although a key is there too', { auth_mode: 'chatgpt', OPENAI_API_KEY: 'made-up-key' }, true],
    ['says nothing, and has no key', { auth_mode: undefined }, true],
    ['says nothing, and has a key', { auth_mode: undefined, OPENAI_API_KEY: 'made-up-key' }, false],
    ['is logged in with a key', { auth_mode: 'apikey', OPENAI_API_KEY: 'made-up-key', tokens: null }, false],
  ])('is what Codex would use where the file %s', (_, more, isLogin) => {
    write({ ...chatgptLogin().auth, ...more });
    expect([openai().login !== undefined, openai().key !== undefined]).toEqual([isLogin, !isLogin]);
  });

  it.each(['{', '{}', '[]', 'null'])('is not there where the file is %j', (text) => {
    write(text);
    expect(openai()).toMatchObject({ login: undefined, key: undefined, hasKey: false, isKeyNeeded: true });
    expect(openai().how).toContain('no key: set OPENAI_API_KEY, or providers.openai.key');
  });
});

describe('the login of Codex with a key', () => {
  it('is that key, where no other is set', async () => {
    write({ auth_mode: 'apikey', OPENAI_API_KEY: 'made-up-key' });
    const provider = openai();
    expect(provider).toMatchObject({ hasKey: true, isKeyNeeded: false, passesLogin: false });
    expect(provider.how).toBe(`key from the login of Codex in ${file}`);
    await using upstream = await openUpstream((response) => response.end('ok'));
    const providers = new Map([['up', { ...provider, name: 'up', baseUrl: upstream.url }]]);
    await using transport = liveTransport({ providers, env: {} });
    expect((await transport.send(requestOf(), NEVER)).ownLogin).toBeUndefined();
    expect(upstream.received[0]!.headers.authorization).toBe('Bearer made-up-key');
    expect(openai({}, { OPENAI_API_KEY: 'other' }).how).toBe('key from variable OPENAI_API_KEY');
  });

  it('goes to no other address, and not where the user wants keys alone', () => {
    write({ OPENAI_API_KEY: 'made-up-key' });
    expect(openai({}, { OPENAI_BASE_URL: 'http://other.test' }).hasKey).toBe(false);
    expect(openai({ login: 'key' }).hasKey).toBe(false);
    expect(openai({}, { HOME: '/nowhere', CODEX_HOME: path.join(home, '.codex') }).hasKey).toBe(true);
  });

  it('that others may read is refused with the command that mends it', async () => {
    write({ OPENAI_API_KEY: 'made-up-key' }, 0o644);
    await expect(openai().key!.read()).rejects.toThrow('run: chmod 600');
  });
});
