/** The way to a provider: what goes out, what comes back, whose key, and no key where it does not belong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ProviderKey } from '../src/gateway/keys/keys.ts';
import { liveTransport } from '../src/gateway/live/live.ts';
import { resolveProviders } from '../src/gateway/keys/providers.ts';
import { KEY, NEVER, openUpstream, requestOf, textOf, transportTo } from './fixtures/upstream.ts';

describe('a request', () => {
  it('reaches the provider below its base URL, with the key of the provider and unknown headers as they are', async () => {
    await using upstream = await openUpstream((response) =>
      response.setHeader('x-their-own', 'a').end('hello'),
    );
    await using transport = transportTo(`${upstream.url}/v1/`, { headers: { 'X-Title': 'bosun' } });
    const request = requestOf({
      path: '/chat/completions?beta=1',
      headers: {
        'x-agent': 'z',
        'accept-encoding': 'gzip',
        connection: 'x-hop',
        'x-hop': '1',
        host: 'evil.test',
      },
    });
    const response = await transport.send(request, NEVER);
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({ 'x-their-own': 'a' });
    expect(response.headers).not.toHaveProperty('connection');
    expect(await textOf(response)).toBe('hello');
    const [got] = upstream.received;
    expect(got).toMatchObject({ method: 'POST', url: '/v1/chat/completions?beta=1', body: '{"model":"m"}' });
    expect(got!.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'x-agent': 'z',
      'x-title': 'bosun',
      'accept-encoding': 'identity',
      host: new URL(upstream.url).host,
    });
    expect(got!.headers).not.toHaveProperty('x-hop');
  });

  it('is streamed back piece by piece', async () => {
    let more = (): void => {};
    await using upstream = await openUpstream((response) => {
      response.write('one');
      more = () => response.end('two');
    });
    await using transport = transportTo(upstream.url);
    const { body } = await transport.send(requestOf(), NEVER);
    const chunks = body[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe('one');
    more();
    expect(String((await chunks.next()).value)).toBe('two');
    expect(await chunks.next()).toMatchObject({ done: true });
  });

  it.each([
    '/../admin',
    '/v1/%2e%2E/admin',
    '/v1/..%2fadmin',
    '/v1\\..\\admin',
    'http://evil.test/',
    '/a b',
    '/a\r\nx: y',
    '/v1/..;/admin',
  ])('to %j leaves the base URL and is not sent', async (path) => {
    await using upstream = await openUpstream((response) => response.end());
    await using transport = transportTo(`${upstream.url}/tenant`);
    await expect(transport.send(requestOf({ path }), NEVER)).rejects.toMatchObject({ kind: 'bad-request' });
    expect(upstream.received).toEqual([]);
  });

  it('to a provider that is not configured fails and says which there are', async () => {
    await using transport = transportTo('http://127.0.0.1:9');
    const sent = transport.send(requestOf({ provider: 'upp' }), NEVER);
    await expect(sent).rejects.toThrow(/no provider "upp".*anthropic, openai, gemini, up/);
  });

  it('uses the same connection as the one before', async () => {
    await using upstream = await openUpstream((response) => response.end('x'));
    let connections = 0;
    upstream.server.on('connection', () => connections++);
    await using transport = transportTo(upstream.url);
    for (let n = 0; n < 5; n++) await textOf(await transport.send(requestOf(), NEVER));
    expect(connections).toBe(1);
  });

  it('goes to no path that is encoded twice: who decodes it again finds another one', async () => {
    await using upstream = await openUpstream((response) => response.end('{}'));
    await using transport = transportTo(upstream.url);
    const sent = transport.send({ ...requestOf(), path: '/models/%252e%252e/files' }, NEVER);
    await expect(sent).rejects.toThrow('is not a path of an API');
    expect(upstream.received).toEqual([]);
  });

  it('fails where the provider changes the protocol, and waits for nothing', async () => {
    await using upstream = await openUpstream((response) => {
      response.socket!.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await using transport = transportTo(upstream.url, {}, { limits: { triesMax: 1 } });
    await expect(transport.send(requestOf(), NEVER)).rejects.toThrow('up broke off the connection');
  });

  it('is not followed elsewhere: a redirect is given to the agent as it is', async () => {
    await using other = await openUpstream((response) => response.end('stolen'));
    await using upstream = await openUpstream((response) =>
      response.writeHead(307, { location: other.url }).end(),
    );
    await using transport = transportTo(upstream.url);
    expect((await transport.send(requestOf(), NEVER)).status).toBe(307);
    expect(other.received).toEqual([]);
  });
});

describe('keys', () => {
  it('of an agent never reach the provider beside ours, wherever it puts them', async () => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url);
    const headers = {
      authorization: 'Bearer own',
      'x-api-key': 'own',
      'x-goog-api-key': 'own',
      'api-key': 'own',
      cookie: 'session=own',
      'x-odd': 'the bosun-placeholder',
    };
    const path = '/models?key=own&alt=sse&%6bey=own&access_token=bosun-placeholder';
    const response = await transport.send(requestOf({ headers, path }), NEVER);
    expect(response.ownLogin).toBeUndefined();
    const [got] = upstream.received;
    expect(got!.url).toBe('/models?alt=sse');
    expect(JSON.stringify(got)).not.toMatch(/own|placeholder/);
    expect(got!.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it.each([
    ['anthropic', undefined, 'x-api-key', KEY],
    ['openai', undefined, 'authorization', `Bearer ${KEY}`],
    ['gemini', undefined, 'x-goog-api-key', KEY],
    ['anthropic', 'bearer', 'authorization', `Bearer ${KEY}`],
  ] as const)('for %s (key-as %s) are in the header %s', async (dialect, keyAs, header, value) => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, { dialect, ...(keyAs && { 'key-as': keyAs }) });
    await transport.send(requestOf({ headers: {} }), NEVER);
    expect(upstream.received[0]!.headers[header]).toBe(value);
  });

  it('that a provider repeats are taken out of its headers and of its complaints, also across pieces', async () => {
    await using upstream = await openUpstream((response) => {
      response.writeHead(401, { 'x-debug': `you sent ${KEY}`, 'set-cookie': 'a=b' });
      response.write(`wrong: ${KEY} and ${KEY.slice(0, 4)}`);
      setTimeout(() => response.end(`${KEY.slice(4)}!`), 20);
    });
    await using transport = transportTo(upstream.url);
    const response = await transport.send(requestOf(), NEVER);
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(JSON.stringify(response.headers)).not.toContain(KEY);
    expect(await textOf(response)).toBe(`wrong: ${'*'.repeat(KEY.length)} and ${'*'.repeat(KEY.length)}!`);
    expect(response.headers).toMatchObject({ 'x-should-retry': 'false' });
    expect(response.rejectedKey).toBe('UP_KEY');
  });

  it('are in no error, not even deep inside', async () => {
    await using transport = transportTo('http://127.0.0.1:9', { patience: '1ms' });
    const error: unknown = await transport.send(requestOf(), NEVER).catch((reason: unknown) => reason);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(KEY);
    expect(inspect(transport, { depth: 10, showHidden: true })).not.toContain(KEY);
  });

  it('that have expired are looked for once more, and the request goes again', async () => {
    await using upstream = await openUpstream((response, { headers }) =>
      response.writeHead(headers.authorization === 'Bearer token-1' ? 200 : 401).end('x'),
    );
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'bosun-test-')), 'count');
    let nowMs = 0;
    const command = `cat ${file} 2>/dev/null || echo token-0; echo token-1 > ${file}`;
    const key = new ProviderKey({ command }, 'bearer', { nowMs: () => nowMs });
    const providers = new Map(resolveProviders([], {}));
    providers.set('up', {
      ...providers.get('openai')!,
      name: 'up',
      baseUrl: upstream.url,
      key,
      passesLogin: false,
    });
    await using transport = liveTransport({ providers, env: {} });
    expect((await transport.send(requestOf(), NEVER)).status).toBe(401); // it is a moment old, so it is wrong
    nowMs = 61_000;
    expect((await transport.send(requestOf(), NEVER)).status).toBe(200);
    expect(upstream.received).toHaveLength(3);
    rmSync(path.dirname(file), { recursive: true });
  });

  it('that are missing stop a request to a built-in provider before it leaves, and say what to set', async () => {
    await using transport = transportTo('http://127.0.0.1:9');
    const sent = transport.send(requestOf({ provider: 'anthropic' }), NEVER);
    await expect(sent).rejects.toThrow('anthropic has no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN');
    await expect(sent).rejects.toMatchObject({ kind: 'auth', status: 401 });
  });
});

describe("an agent's own login", () => {
  const headers = {
    authorization: 'Bearer sk-ant-oat-own',
    'anthropic-beta': 'oauth',
    'x-api-key': 'bosun-placeholder',
  };

  it('is passed on where no key is configured, and the answer says so', async () => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, { dialect: 'anthropic', key: undefined });
    const response = await transport.send(
      requestOf({ headers, path: '/v1/messages?key=bosun-placeholder&a=1' }),
      NEVER,
    );
    expect(response.ownLogin).toBe(true);
    const [got] = upstream.received;
    expect(got!.headers).toMatchObject({ authorization: headers.authorization, 'anthropic-beta': 'oauth' });
    expect(JSON.stringify(got)).not.toContain('placeholder');
    expect(got!.url).toBe('/v1/messages?a=1');
  });

  it('goes before our key where the configuration says "login: agent", and our key serves those without', async () => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using transport = transportTo(upstream.url, { login: 'agent' });
    expect((await transport.send(requestOf({ headers }), NEVER)).ownLogin).toBe(true);
    expect((await transport.send(requestOf(), NEVER)).ownLogin).toBeUndefined();
    expect(upstream.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-ant-oat-own',
      `Bearer ${KEY}`,
    ]);
    expect(JSON.stringify(upstream.received[0])).not.toContain(KEY);
  });
});
