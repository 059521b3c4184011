/** What goes through an attempt's door to models, and what does not, with real HTTP on both sides of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_TOKENS } from '../src/contract/model.ts';
import { loadConfigs } from '../src/definition/config.ts';
import type { AttemptEndpoint } from '../src/gateway/attempt-endpoint.ts';
import { priceTable } from '../src/gateway/money/prices.ts';
import { resolveProviders } from '../src/gateway/keys/providers.ts';
import { Home } from '../src/store/home.ts';
import { Models } from '../src/run/models.ts';
import { ask, makeRig, sendJson, type Rig } from './fixtures/gateway.ts';

let rig: Rig;
beforeAll(async () => void (rig = await makeRig()));
afterEach(() => {
  rig.reset();
  rig.serve((outgoing) => outgoing.end('{}'));
  vi.unstubAllEnvs();
});
afterAll(() => rig[Symbol.asyncDispose]());

/** With any method. */
async function send(door: AttemptEndpoint, method: string, url: string): Promise<number> {
  const outgoing = request({ socketPath: door.socketPath, method, path: url, agent: false });
  outgoing.end(method === 'POST' ? '{}' : undefined);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.resume();
  return incoming.statusCode!;
}

describe('what goes through', () => {
  it.each([
    ['POST', '/anthropic/v1/messages?beta=true'],
    ['POST', '/anthropic/v1/messages/count_tokens?beta=true'],
    ['GET', '/anthropic/v1/models?limit=1000'],
    ['GET', '/anthropic/v1/models/claude-opus-5-5'],
    ['POST', '/openai/v1/chat/completions'],
    ['POST', '/local/responses'],
    ['POST', '/openai/responses/compact'],
    ['POST', '/openai/responses/input_tokens'],
    ['POST', '/openai/v1/embeddings'],
    ['GET', '/openai/v1/models'],
    ['HEAD', '/local/models/qwen/coder'],
    ['POST', '/gemini/v1beta/models/g-1:streamGenerateContent?alt=sse'],
    ['POST', '/gemini/v1/models/g-1:generateContent'],
    ['POST', '/gemini/v1beta/models/g-1:countTokens'],
    ['GET', '/gemini/v1beta/models'],
  ])('is what agents need: %s %s', async (method, url) => {
    expect(await send(await rig.open(), method, url)).toBe(200);
    expect(rig.got).toMatchObject([{ method }]);
    expect(rig.errors).toEqual([]);
  });

  it.each([
    ['POST', '/anthropic/v1/messages/batches'],
    ['POST', '/anthropic/v1/files'],
    ['DELETE', '/anthropic/v1/files/file-1'],
    ['GET', '/anthropic/v1/organizations/api_keys'],
    ['POST', '/anthropic/api/event_logging/batch'],
    ['DELETE', '/openai/v1/models/my-own'],
    ['PUT', '/anthropic/v1/messages'],
    ['GET', '/openai/responses/resp-1'],
    ['POST', '/openai/v1/batches'],
    ['POST', '/local/v1/images/generations'],
    ['POST', '/openai/chat/completions/'],
    ['POST', '/openai/chat%2fcompletions'],
    ['POST', '//openai/chat/completions'],
    ['POST', '/openai//chat/completions'],
    ['POST', '/gemini/v1beta/cachedContents'],
    ['POST', '/gemini/v1beta/models/g-1:batchGenerateContent'],
    ['GET', '/gemini/v1beta/files'],
  ])('is nothing else: %s %s', async (method, url) => {
    const status = await send(await rig.open(), method, url);
    expect(status).toBe(url.startsWith('//') ? 404 : 403);
    expect(rig.got).toEqual([]);
    expect(rig.wishes).toEqual([]);
    expect(rig.errors).toMatchObject([{ kind: 'bad-request' }]);
  });

  it('is told in the dialect of who asks, with what to do about it', async () => {
    const door = await rig.open();
    const [claude, gpt, gemini] = [
      await ask(door, '/anthropic/v1/files?key=secret', {}),
      await ask(door, '/openai/v1/files', {}),
      await ask(door, '/gemini/v1beta/files', {}),
    ];
    const message =
      'bosun: agents may ask models of anthropic, and for its list of models, but not for POST /v1/files; ' +
      'to allow it, add pass: ["POST /v1/files"] to providers.anthropic in your own configuration';
    expect(JSON.parse(claude.body)).toEqual({ type: 'error', error: { type: 'permission_error', message } });
    expect(JSON.parse(gpt.body).error).toMatchObject({ type: 'permission_error', code: 'bosun' });
    expect(JSON.parse(gemini.body).error).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
    expect([claude, gpt, gemini].map(({ headers }) => headers['x-should-retry'])).toEqual(
      Array(3).fill('false'),
    );
    expect(rig.errors[0]).toEqual({ kind: 'bad-request', message });
  });

  it('is more where the user says so, and is then not called free', async () => {
    const pass = { openai: ['POST /v1/files', 'GET /files/*', '* /v1/threads*'], local: ['POST /x.y'] };
    const door = await rig.open(undefined, { pass });
    const tried = ['POST /v1/files', 'POST /files', 'GET /v1/files/a/b', 'DELETE /threads/1'];
    for (const asked of tried) {
      const [method, url] = asked.split(' ') as [string, string];
      expect([asked, await send(door, method, `/openai${url}?purpose=x`)]).toEqual([asked, 200]);
    }
    expect(rig.wishes.map(({ usd }) => usd)).toEqual([null, null, 0, null]);
    const others = ['DELETE /openai/files', 'POST /openai/files/1', 'POST /anthropic/v1/files'];
    for (const asked of [...others, 'POST /local/xzy', 'POST /local/v1/files']) {
      const [method, url] = asked.split(' ') as [string, string];
      expect([asked, await send(door, method, url)]).toEqual([asked, 403]);
    }
  });

  it('is not what a model answers later, which nobody could meter', async () => {
    const door = await rig.open();
    const body = { model: 'gpt-6-sol', background: true };
    const answer = await ask(door, '/openai/responses', body);
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('ask without \\"background\\"');
    expect((await ask(door, '/openai/responses', { ...body, background: false })).status).toBe(200);
    expect(rig.got).toHaveLength(1);
  });
});

describe('embeddings', () => {
  it.each([
    [{ usage: { prompt_tokens: 1000, total_tokens: 1000 } }, 1000],
    [{ usage: { total_tokens: 700 } }, 700],
    [{ data: [{ embedding: Array(1000).fill(0.125) }] }, 11],
  ])('are metered as input alone: %o', async (answer, input) => {
    rig.serve((outgoing) => sendJson(outgoing, answer));
    const priceOf = priceTable({ 'text-embedding-*': { input: 20, output: 1000 } });
    const body = { model: 'text-embedding-3', input: 'hello' };
    await ask(await rig.open(undefined, { priceOf }), '/openai/embeddings', body);
    const tokens = { ...NO_TOKENS, input };
    expect(rig.wishes).toMatchObject([{ tokens: { output: 0 } }]);
    expect(rig.settled).toMatchObject([{ model: 'text-embedding-3', tokens, usd: (input * 20) / 1e6 }]);
  });
});

describe('a request that offers tools', () => {
  it.each([
    ['/anthropic/v1/messages', { tools: [{ name: 'a' }] }, true],
    ['/openai/responses', { tools: [{ type: 'function' }] }, true],
    ['/gemini/v1beta/models/g:generateContent', { tools: [{ functionDeclarations: [] }] }, true],
    ['/openai/chat/completions', { tools: [] }, undefined],
    ['/anthropic/v1/messages', {}, undefined],
  ])('is known from one on the side: %s %o', async (url, body, hasTools) => {
    await ask(await rig.open(), url, { model: 'm', ...body });
    expect(rig.wishes[0]?.hasTools).toBe(hasTools);
  });
});

describe('configurations', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'bosun-policy-'));
  const users = path.join(home, 'bosun/config.yaml');
  beforeAll(() => mkdirSync(path.dirname(users)));
  afterAll(() => rmSync(home, { recursive: true }));

  function written(text: string): void {
    vi.stubEnv('XDG_CONFIG_HOME', home);
    writeFileSync(users, text);
  }

  it('of a user let more pass', () => {
    written('providers: { openai: { pass: ["POST /v1/files", "GET /v1/files/*"] } }');
    const providers = resolveProviders(loadConfigs([users]), {});
    expect(providers.get('openai')!.pass).toEqual(['POST /v1/files', 'GET /v1/files/*']);
    expect(providers.get('anthropic')!.pass).toEqual([]);
  });

  it.each(['/v1/files', 'post /v1/files', 'POST v1/files', 'POST  /a', 'POST /a b'])(
    'that let pass what is no method and path are an error: %s',
    (pass) => {
      written(`providers: { openai: { pass: [${JSON.stringify(pass)}] } }`);
      expect(() => loadConfigs([users])).toThrow(
        'must be a method and a path, such as "POST /v1/files" or "GET /v1/files/*"',
      );
    },
  );

  it('of a repository give no prices', async () => {
    const [input, output] = [1_000_000, 0];
    written('prices: { mine-2: { input: 2, output: 2 }, "mine-*": { input: 3, output: 3 } }');
    mkdirSync(path.join(home, '.bosun'), { recursive: true });
    writeFileSync(
      path.join(home, '.bosun/config.yaml'),
      'prices: { "*": { input: 0, output: 0 }, mine-2: { input: 0, output: 0 } }',
    );
    await using models = new Models(new Home({ top: home, commonDir: home }));
    await models.loadPrices();
    const price = (model: string): number | null => models.price(model, { ...NO_TOKENS, input, output });
    expect(price('claude-opus-5-5')).toBe(4);
    expect(price('mine-1')).toBe(3);
    expect(price('mine-2')).toBe(2);
    expect(price('nobody-knows')).toBeNull();
  });
});
