/** What models cost, and where requests go. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NO_TOKENS } from '../src/contract/model.ts';
import { priceTable } from '../src/gateway/money/prices.ts';
import { NEWER_PRICES, outputTokensMaxOf } from '../src/gateway/money/price-list.ts';
import { PUBLIC_PRICES } from '../src/gateway/money/public-prices.ts';
import { modelsOf, pricesFile, PRICES_PATH } from '../scripts/prices.ts';
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
    'gpt-5.5-ultra',
    'gpt-5.1-codex-huge',
    'gpt-5-image',
    'gemini-2.5-flash-tts',
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
    expect(priceOf('gpt-6.1-terra', { ...NO_TOKENS, input: 272_000 })).toBeCloseTo(0.272, 12);
    expect(priceOf('gpt-6.1-terra', { ...NO_TOKENS, input: 1, cacheRead: 272_000 })).toBeNull();
  });

  it('of the user comes first, by glob, with input in place of what it leaves out', () => {
    const own = priceTable({ 'claude-opus-*': { input: 1, output: 2 }, 'qwen/*': { input: 0, output: 0 } });
    expect(own('claude-opus-5-5', { ...MILLION, cacheRead: 1_000_000, cacheWrite: 1_000_000 })).toBe(3);
    expect(own('qwen/coder', MILLION)).toBe(0);
    expect(own('claude-haiku-4-5', MILLION)).toBe(1);
  });
});

describe('the public list of prices', () => {
  it('is the file that scripts/prices.ts writes, with its source and date', async () => {
    expect(await pricesFile(PUBLIC_PRICES)).toBe(readFileSync(PRICES_PATH, 'utf8'));
    const { source, published, asOf, models } = PUBLIC_PRICES;
    expect(source).toMatch(/^npm:@pydantic\/genai-prices@\d+\.\d+\.\d+$/);
    for (const day of [published, asOf]) expect(new Date(day).toISOString().slice(0, 10)).toBe(day);
    expect(asOf >= published).toBe(true);
    const names = models.flatMap(([each]) => each);
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['claude-opus-5-5', 'gpt-6-sol', 'gemini-3.8-flash']));
    for (const [, { above, promptTokensMax: _, ...rates }] of models)
      for (const usd of [...Object.values(rates), ...Object.values(above ?? {})])
        expect(usd).toBeGreaterThan(0);
  });

  it('has none of the models whose prices are still written by hand', () => {
    const names = new Set(PUBLIC_PRICES.models.flatMap(([each]) => each));
    expect(Object.keys(NEWER_PRICES).filter((name) => names.has(name))).toEqual([]);
  });

  it('is made of the prices of its day, for text, by exact names', () => {
    const tiers = (base: number, price: number): object => ({ base, tiers: [{ start: 1000, price }] });
    const provider = {
      models: [
        {
          id: 'claude-a-1',
          match: {
            or: [
              { equals: 'claude-a-1-20260101' },
              { starts_with: 'claude-a.1' },
              { starts_with: 'claude-a-2026' },
            ],
          },
          prices: [
            { prices: { input_mtok: 9, output_mtok: 9 } },
            {
              constraint: { type: 'start_date', start_date: '2026-02-01' },
              prices: {
                input_mtok: tiers(1, 2),
                output_mtok: 5,
                cache_write_1h_mtok: tiers(3, 4),
                web_searches_kcount: 10,
              },
            },
            {
              constraint: { type: 'start_date', start_date: '2027-01-01' },
              prices: { input_mtok: 8, output_mtok: 8 },
            },
          ],
        },
        { id: 'claude-image', match: {}, prices: { input_mtok: 1, output_mtok: 1 } },
        { id: 'claude-embeds', match: {}, prices: { input_mtok: 1 } },
        { id: 'claude-old', match: {}, deprecated: true, prices: { input_mtok: 1, output_mtok: 1 } },
        { id: 'gpt-of-another', match: {}, prices: { input_mtok: 1, output_mtok: 1 } },
        {
          id: 'claude-night',
          match: {},
          prices: [{ constraint: { type: 'time_of_date' }, prices: { input_mtok: 1, output_mtok: 1 } }],
        },
      ],
    };
    const find = (id: string): never => (id === 'anthropic' ? provider : undefined) as never;
    const above = { promptTokens: 1000, input: 2, output: 5, cacheWriteHour: 4 };
    expect(modelsOf(find, '2026-11-18')).toEqual([
      [['claude-a-1'], { input: 1, output: 5, cacheWriteHour: 3, above }],
    ]);
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
