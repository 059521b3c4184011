/** Agents whose program is logged in on this machine: whose login is used, for what, and where it never goes. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConfigFile, ProviderConfig } from '../src/contract/config.ts';
import { liveTransport } from '../src/gateway/live/live.ts';
import { resolveProviders as resolve, type Provider } from '../src/gateway/keys/providers.ts';
import { LOGINS } from '../src/runtime/runtimes.ts';
import type { ModelRequest, Transport } from '../src/gateway/transport.ts';
import { Home } from '../src/store/home.ts';
import { Models } from '../src/run/models.ts';
import type { ModelCaller } from '../src/attempt/attempt.ts';
import { NEVER, openUpstream, requestOf, textOf } from './fixtures/upstream.ts';

const TOKEN = 'made-up-oat-0123456789';
const HOUR_MS = 3_600_000;
/** As Claude Code 2.1.325 sends it with a key; with a login there is one beta more, and another header. */
const CLAUDE = {
  'user-agent': 'claude-cli/2.1.325 (external, sdk-cli)',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
  'anthropic-version': '2023-06-01',
  'x-api-key': 'bosun-placeholder',
  'x-app': 'cli',
};

const resolveProviders = (configs: ConfigFile[], env: NodeJS.ProcessEnv) => resolve(configs, env, LOGINS);

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'bosun-test-'));
  file = path.join(home, '.claude', '.credentials.json');
  mkdirSync(path.join(home, '.claude'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

const users = (name: string, config: ProviderConfig): ConfigFile[] => [
  { file: 'config.yaml', isUsers: true, config: { providers: { [name]: config } } },
];
const anthropic = (config: ProviderConfig = {}, env: NodeJS.ProcessEnv = {}): Provider =>
  resolveProviders(users('anthropic', config), { HOME: home, ...env }).get('anthropic')!;

function transportTo(
  url: string,
  config: ProviderConfig = {},
  env: NodeJS.ProcessEnv = {},
): Transport & AsyncDisposable {
  const provider = anthropic({ 'base-url': url, login: 'agent', patience: '1ms', ...config }, env);
  return liveTransport({ providers: new Map([['anthropic', provider]]), env: {} });
}

function claudeRequest(more: Partial<ModelRequest> = {}): ModelRequest {
  return requestOf({
    provider: 'anthropic',
    dialect: 'anthropic',
    path: '/v1/messages?beta=true',
    headers: CLAUDE,
    ...more,
  });
}

function logIn(token = TOKEN, expiresAt: number | null = Date.now() + HOUR_MS): void {
  const login = { accessToken: token, refreshToken: 'made-up-ort', expiresAt, scopes: ['user:inference'] };
  writeFileSync(file, JSON.stringify({ claudeAiOauth: login, mcpOAuth: {} }), { mode: 0o600 });
}

describe('the login of Claude', () => {
  it('is sent in place of the placeholder, as Claude itself would, and the answer says whose it was', async () => {
    logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const response = await transport.send(claudeRequest(), NEVER);
    expect(response.ownLogin).toBe(true);
    const [got] = upstream.received;
    expect(got!.url).toBe('/v1/messages?beta=true');
    expect(got!.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,oauth-2025-04-20',
      'anthropic-version': '2023-06-01',
      'user-agent': CLAUDE['user-agent'],
      'x-app': 'cli',
    });
    expect(got!.headers).not.toHaveProperty('x-api-key');
    expect(JSON.stringify(got)).not.toContain('placeholder');
  });

  it.each([
    [undefined, 'oauth-2025-04-20'],
    ['a, oauth-2025-04-20', 'a, oauth-2025-04-20'],
  ])('makes of the betas %j %j', async (betas, sent) => {
    logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const { 'anthropic-beta': _, ...rest } = CLAUDE;
    const headers = { ...rest, ...(betas !== undefined && { 'anthropic-beta': betas }) };
    await transport.send(claudeRequest({ headers }), NEVER);
    expect(upstream.received[0]!.headers['anthropic-beta']).toBe(sent);
  });

  it('comes from the variable first, which needs no file', async () => {
    logIn('made-up-of-the-file');
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, {}, { CLAUDE_CODE_OAUTH_TOKEN: TOKEN });
    await transport.send(claudeRequest(), NEVER);
    expect(upstream.received[0]!.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('serves where there is no key, and goes before a key only where the user says so', () => {
    logIn();
    expect(anthropic().login).toBeDefined();
    expect(anthropic({}, { ANTHROPIC_API_KEY: 'made-up' }).login).toBeUndefined();
    expect(anthropic({ login: 'agent' }, { ANTHROPIC_API_KEY: 'made-up' }).login).toBeDefined();
    expect(anthropic({ login: 'key' }).login).toBeUndefined();
  });

  it('goes to no other address than the own one of the provider, unless the user says so', () => {
    logIn();
    expect(anthropic({}, { ANTHROPIC_BASE_URL: 'http://other.test' }).login).toBeUndefined();
    expect(anthropic({ 'base-url': 'http://other.test' }).login).toBeUndefined();
    expect(anthropic({ 'base-url': 'http://other.test', login: 'agent' }).login).toBeDefined();
    expect(anthropic({}, { ANTHROPIC_BASE_URL: 'https://api.anthropic.com/' }).login).toBeDefined();
  });

  it('is found where the user keeps it, and nowhere without a home', () => {
    logIn();
    const elsewhere = { HOME: '/nowhere', CLAUDE_CONFIG_DIR: path.dirname(file) };
    expect(resolveProviders([], elsewhere).get('anthropic')!.login).toBeDefined();
    vi.stubEnv('HOME', home); // the home of this process is none of the one that is asked for
    expect(resolveProviders([], {}).get('anthropic')!.login).toBeUndefined();
    expect(resolveProviders([], { HOME: '/nowhere' }).get('anthropic')!.login).toBeUndefined();
  });

  it('is not for what a repository configures', () => {
    logIn();
    const providers = {
      evil: { dialect: 'anthropic' as const, 'base-url': 'http://evil.test', login: 'agent' as const },
      anthropic: { 'base-url': 'http://evil.test', login: 'agent' as const },
    };
    const found = resolveProviders([{ file: 'f', isUsers: false, config: { providers } }], { HOME: home });
    expect(found.get('evil')).toBeUndefined();
    expect(found.get('anthropic')!.baseUrl).toBe('https://api.anthropic.com');
  });

  it.each([
    ['another program', { headers: { ...CLAUDE, 'user-agent': 'opencode/1.18.33' } }],
    ['what is no question to a model', { path: '/api/oauth/claude_cli/create_api_key' }],
    ['what only begins like one', { path: '/v1/messages/batches' }],
    ['what hides behind one', { path: '/v1/models/x%2Fy' }],
  ])('does not serve %s, which gets the key, or an error that says what to set', async (_, more) => {
    logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, {}, { ANTHROPIC_API_KEY: 'made-up-key' });
    expect((await transport.send(claudeRequest(more), NEVER)).ownLogin).toBeUndefined();
    expect(upstream.received[0]!.headers).toMatchObject({ 'x-api-key': 'made-up-key' });
    expect(JSON.stringify(upstream.received)).not.toContain(TOKEN);
    await using direct = liveTransport({ providers: resolveProviders([], { HOME: home }), env: {} });
    const sent = direct.send(claudeRequest(more), NEVER);
    await expect(sent).rejects.toMatchObject({ kind: 'auth', status: 401 });
    await expect(sent).rejects.toThrow(
      `anthropic has the login of Claude in ${file}, for what agents that are Claude ask models; others need a key: set ANTHROPIC_API_KEY`,
    );
  });

  it('that is gone, since somebody has logged out, is an error with its path, and serves once it is there again', async () => {
    logIn();
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    expect((await transport.send(claudeRequest(), NEVER)).status).toBe(200);
    rmSync(file);
    await expect(transport.send(claudeRequest(), NEVER)).rejects.toThrow(
      `${file} cannot be read (ENOENT); run`,
    );
    logIn();
    expect((await transport.send(claudeRequest(), NEVER)).status).toBe(200);
  });

  it('that has expired is an error that says how to renew it, and nothing is sent', async () => {
    logIn(TOKEN, Date.now() - 1);
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const sent = transport.send(claudeRequest(), NEVER);
    await expect(sent).rejects.toMatchObject({ kind: 'auth', status: 401 });
    await expect(sent).rejects.toThrow(
      'the login of Claude has expired; run `claude` once to renew the login',
    );
    expect(upstream.received).toEqual([]);
  });

  it('is read again as soon as Claude has renewed it', async () => {
    logIn('made-up-1');
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    await transport.send(claudeRequest(), NEVER);
    logIn('made-up-2');
    await transport.send(claudeRequest(), NEVER);
    expect(upstream.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer made-up-1',
      'Bearer made-up-2',
    ]);
  });

  it('that is refused while Claude renews it goes again with the new one', async () => {
    logIn('made-up-1');
    await using upstream = await openUpstream((response, { headers }) => {
      logIn('made-up-2');
      response.writeHead(headers.authorization === 'Bearer made-up-2' ? 200 : 401).end('x');
    });
    await using transport = transportTo(upstream.url);
    expect((await transport.send(claudeRequest(), NEVER)).status).toBe(200);
    expect(upstream.received).toHaveLength(2);
  });

  it('that the provider refuses is asked for once, and the error says how to renew it', async () => {
    logIn();
    await using upstream = await openUpstream((response) => response.writeHead(401).end(`no: ${TOKEN}`));
    await using transport = transportTo(upstream.url);
    const sent = transport.send(claudeRequest(), NEVER);
    await expect(sent).rejects.toMatchObject({ kind: 'auth', status: 401 });
    await expect(sent).rejects.toThrow('anthropic does not accept the login of Claude; run `claude` once');
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['{"claudeAiOauth":', 'there is no login of Claude in'],
    ['{"mcpOAuth":{}}', 'there is no login of Claude in'],
    [`{"claudeAiOauth":{"accessToken":"${TOKEN} ${TOKEN}"}}`, 'there is no login of Claude in'],
  ])('that cannot be one is an error which shows nothing of it', async (text, message) => {
    writeFileSync(file, text, { mode: 0o600 });
    await using transport = transportTo('http://127.0.0.1:9');
    const error: unknown = await transport.send(claudeRequest(), NEVER).catch((reason: unknown) => reason);
    expect((error as Error).message).toContain(message);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(TOKEN);
  });

  it('that others may read is refused with the command that mends it, which then serves', async () => {
    logIn();
    chmodSync(file, 0o644);
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    await expect(transport.send(claudeRequest(), NEVER)).rejects.toThrow(
      `others may read the login file ${file} (mode 644); run: chmod 600 ${file}`,
    );
    chmodSync(file, 0o600);
    expect((await transport.send(claudeRequest(), NEVER)).status).toBe(200);
  });

  it.runIf(process.getuid?.() === 0)('of another user is refused', async () => {
    logIn();
    chownSync(file, 12_345, 12_345);
    await using transport = transportTo('http://127.0.0.1:9');
    await expect(transport.send(claudeRequest(), NEVER)).rejects.toThrow(
      'belongs to another user (uid 12345)',
    );
  });

  it('comes back in no answer, no description and no printed object', async () => {
    logIn();
    await using upstream = await openUpstream((response) =>
      response.writeHead(400, { 'x-debug': TOKEN }).end(`you sent ${TOKEN}`),
    );
    await using transport = transportTo(upstream.url);
    const response = await transport.send(claudeRequest(), NEVER);
    expect(JSON.stringify(response.headers) + (await textOf(response))).not.toContain(TOKEN);
    const provider = anthropic();
    await provider.login!.secret.read();
    expect(inspect(provider, { depth: 10, showHidden: true }) + JSON.stringify(provider)).not.toContain(
      TOKEN,
    );
    expect(provider).toMatchObject({ hasKey: true, isKeyNeeded: true });
    expect(provider.how).toContain(`the login of Claude in ${file}`);
    expect(anthropic({}, { CLAUDE_CODE_OAUTH_TOKEN: TOKEN }).how).toContain(
      'the login of Claude in variable CLAUDE_CODE_OAUTH_TOKEN',
    );
  });
});

describe('an agent that is not logged in itself', () => {
  const askable = async (runtime: ModelCaller['runtime'], env: NodeJS.ProcessEnv): Promise<string[]> => {
    for (const name of Object.keys(process.env)) if (/KEY|TOKEN|BASE_URL/.test(name)) vi.stubEnv(name, '');
    for (const [name, value] of Object.entries({ HOME: home, XDG_CONFIG_HOME: home, ...env }))
      vi.stubEnv(name, value);
    await using models = new Models(new Home({ top: home, commonDir: home }));
    const place = { run: 'r', paths: {} };
    const admit = (): Promise<never> => Promise.reject(new Error('nothing is asked here'));
    await using door = await models.open(
      { run: 'r', task: 't', attempt: 1, runtime, place, admit, failed: () => {} },
      'tcp',
    );
    return Object.keys(door.providers);
  };

  it('asks a provider that it has a key for', async () => {
    logIn();
    expect(await askable('opencode', { OPENAI_API_KEY: 'made-up' })).toEqual(['openai']);
    expect(await askable('claude-code', { OPENAI_API_KEY: 'made-up' })).toEqual(['anthropic', 'openai']);
  });
});
