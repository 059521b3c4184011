/** What models cost, and where requests go. */
import { describe, expect, it } from 'vitest';
import { NO_TOKENS } from '../src/contract/model.ts';
import { priceTable } from '../src/gateway/money/prices.ts';
import { outputTokensMaxOf } from '../src/gateway/money/price-list.ts';
import { routeOf, type Route } from '../src/gateway/request/route.ts';
import { askedIn, estimateOf } from '../src/gateway/request/estimate.ts';

const MILLION = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };

describe('a price', () => {
  const priceOf = priceTable();

  it.each([
    ['claude-opus-5-5', 4],
    ['claude-opus-5', 5],
    ['claude-opus-4-7', 5],
    ['claude-opus-4-1-20250805', 15],
    ['anthropic/claude-opus-4.5', 5],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['claude-haiku-4-5@20251001', 1],
    ['gpt-5.4-mini-2026-03-05', 0.75],
    ['models/gemini-2.5-flash', 0.3],
    ['gpt-5.6-sol', 8], // a long prompt
    ['gpt-5.6', 8],
    ['gpt-5.1', 1.25],
  ])('is found for %s', (model, usd) => expect(priceOf(model, MILLION)).toBe(usd));

  it.each([
    'claude-opus-9',
    'gpt-5.5-pro',
    'gpt-5.1-codex-max',
    'gpt-oss:20b',
    'llama3',
    '',
    '__proto__',
    'claude',
  ])('is not guessed for "%s"', (model) => expect(priceOf(model, MILLION)).toBeNull());

  it('counts what was read from and written to a cache apart', () => {
    const tokens = { input: 1000, output: 100, cacheRead: 50_000, cacheWrite: 2000, cacheWriteHour: 500 };
    const usd = (1000 * 4 + 100 * 20 + 50_000 * 0.2 + 1500 * 5 + 500 * 8) / 1e6;
    expect(priceOf('claude-opus-5-5', tokens)).toBeCloseTo(usd, 12);
  });

  it('is another for the whole request where the prompt is long, cached or not', () => {
    const short = { ...NO_TOKENS, input: 100_000, output: 1000 };
    expect(priceOf('claude-haiku-5-5', short)).toBeCloseTo((100_000 * 0.1 + 1000 * 0.5) / 1e6, 12);
    const long = { ...short, input: 1, cacheRead: 100_000 };
    expect(priceOf('claude-haiku-5-5', long)).toBeCloseTo((0.5 + 1000 * 2.5 + 100_000 * 0.05) / 1e6, 12);
  });

  it('is unknown for a prompt that is longer than those whose price was found', () => {
    expect(priceOf('gpt-5.5', { ...NO_TOKENS, input: 272_000 })).toBeCloseTo(1.36, 12);
    expect(priceOf('gpt-5.5', { ...NO_TOKENS, input: 1, cacheRead: 272_000 })).toBeNull();
  });

  it('of the user comes first, by glob, with input in place of what it leaves out', () => {
    const own = priceTable({ 'claude-opus-*': { input: 1, output: 2 }, 'qwen/*': { input: 0, output: 0 } });
    expect(own('claude-opus-5-5', { ...MILLION, cacheRead: 1_000_000, cacheWrite: 1_000_000 })).toBe(3);
    expect(own('qwen/coder', MILLION)).toBe(0);
    expect(own('claude-haiku-4-5', MILLION)).toBe(1);
  });
});

it.each<[string, Record<string, unknown>, number]>([
  ['/anthropic/v1/messages', { max_tokens: 5, max_output_tokens: 1 }, 5],
  ['/openai/chat/completions', { max_output_tokens: 1 }, outputTokensMaxOf('m')],
  ['/openai/chat/completions', { max_completion_tokens: 7, n: '3' }, 21],
  ['/openai/responses', { max_tokens: 1 }, outputTokensMaxOf('m')],
  ['/gemini/v1beta/models/m:generateContent', { generation_config: { max_output_tokens: 4 } }, 4],
  [
    '/gemini/v1beta/models/m:generateContent',
    { generationConfig: { maxOutputTokens: 2 }, generation_config: { candidate_count: 8 } },
    16,
  ],
])('reserves what the interface reads, not what others would: %s %j', (url, body, output) => {
  const providers = { anthropic: 'anthropic', openai: 'openai', gemini: 'gemini' } as const;
  const route = routeOf('POST', url, providers) as Route;
  const asked = askedIn(route.api, { model: 'm', ...body });
  expect(estimateOf(route, asked, { bytes: 10, pictures: 0 }, () => null).tokens.output).toBe(output);
});

describe('a route', () => {
  const providers = { anthropic: 'anthropic', openai: 'openai', gemini: 'gemini', mine: 'openai' } as const;
  const route = (url: string, method = 'POST'): unknown => routeOf(method, url, providers);

  it.each([
    ['/anthropic/v1/messages?beta=true', { path: '/v1/messages?beta=true', api: 'messages' }],
    ['/openai/v1/chat/completions', { path: '/chat/completions', api: 'chat' }],
    ['/openai/chat/completions', { path: '/chat/completions', api: 'chat' }],
    ['/mine/v1/responses', { path: '/responses', provider: 'mine', api: 'responses' }],
    ['/openai/responses/compact', { path: '/responses/compact', api: 'responses' }],
    ['/openai/v1/embeddings', { path: '/embeddings', api: 'embeddings' }],
    ['/gemini/v1beta/models/g-1:streamGenerateContent?alt=sse', { api: 'generate', model: 'g-1' }],
  ])('is found for %s', (url, expected) => expect(route(url)).toMatchObject(expected));

  it.each([
    ['/other/v1/messages', 'anthropic'],
    ['/other/v1/chat/completions', 'openai'],
    ['/v1beta/models/x:generateContent', 'gemini'],
    ['/constructor/v1/messages', 'anthropic'],
    ['/', 'openai'],
  ])('to nobody that is known is said so, as whoever asks understands it: %s', (url, dialect) => {
    const message = expect.stringContaining('configured: anthropic, openai, gemini, mine');
    expect(route(url)).toEqual({ dialect, status: 404, message });
  });

  it.each(['/openai/../admin', '/openai/v1/%2e%2e/x', '/openai/a/..%2fb', '/openai/a\\..\\b', '/openai/./x'])(
    'does not climb out of the base URL: %s',
    (url) => expect(route(url)).toMatchObject({ status: 400 }),
  );

  it('is free where it only reads', () => {
    expect(route('/openai/models', 'GET')).toMatchObject({ isFree: true });
    expect(route('/openai/embeddings')).toMatchObject({ isFree: false, api: 'embeddings' });
  });
});
