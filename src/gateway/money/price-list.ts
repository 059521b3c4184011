/**
 * What models cost, in dollars per million tokens, at the providers' list prices for ordinary service: a public list,
 * and by hand what is newer than that. Data only.
 *
 * By hand, gathered on 16 November 2026 from stored copies of pages, none of them fetched live: the providers' own
 * pages for Claude Haiku 5.5 (but reading its cache), Sonnet 5.5 and Mythos, and for GPT 6.1; articles for Gemini's
 * names without "-preview" and for reading the cache of Haiku 5.5.
 *
 * A model that is missing has no dollars; a cache without a price counts as input, which is too high for reading and can
 * be too low for writing; beyond `promptTokensMax` the price is unknown. Not in these prices: faster or slower service,
 * regional surcharges, and what tools of the provider cost by the call.
 */
import type { Price, Rates } from './prices.ts';
import { PUBLIC_PRICES } from './public-prices.ts';

const GEMINI_LONG = 200_000;
/** OpenAI's models with a window of a million cost more for a longer prompt. */
const GPT_LONG = 272_000;

/** To be taken out once the public list has them: a test says which. */
export const NEWER_PRICES: Readonly<Record<string, Price>> = {
  'claude-mythos-5-1': claude({ input: 10, output: 50, cacheRead: 0.25 }),
  'claude-mythos-5': claude({ input: 10, output: 50, cacheRead: 1 }),
  'claude-sonnet-5-5': claude({ input: 2, output: 10, cacheRead: 0.2 }),
  'claude-haiku-5-5': tiered(
    100_000,
    claude({ input: 0.1, output: 0.5, cacheRead: 0.01 }),
    claude({ input: 0.5, output: 2.5, cacheRead: 0.05 }),
  ),
  'gpt-6.1-sol': tiered(
    GPT_LONG,
    { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    { input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 },
  ),
  // What its cache costs was not found; in this family writing it is a quarter more than input.
  'gpt-6.1-terra': { input: 1, output: 5, promptTokensMax: GPT_LONG },
  'gemini-3.1-pro': tiered(GEMINI_LONG, { input: 2, output: 12, cacheRead: 0.2 }, { input: 4, output: 18 }),
  'gemini-3-flash': { input: 0.5, output: 3, cacheRead: 0.05, promptTokensMax: GEMINI_LONG },
};

/** By name, without provider and date. */
export const PRICE_LIST: ReadonlyMap<string, Price> = new Map([
  ...Object.entries(NEWER_PRICES),
  ...PUBLIC_PRICES.models.flatMap(([names, price]) => names.map((name): [string, Price] => [name, price])),
]);

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
