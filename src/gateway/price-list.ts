/**
 * What models cost, in dollars per million tokens, at the providers' list prices for ordinary service. Data only.
 *
 * Looked up in November 2026 on the providers' pages: platform.claude.com/docs/en/about-claude/pricing and the pages
 * of each model there; developers.openai.com/api/docs/pricing and the pages of each model; ai.google.dev/gemini-api/
 * docs/pricing. A model that is missing was not certain: its tokens are counted, its dollars are unknown. Where only
 * the price of reading a cache was not certain it is left out, which counts such tokens as any input: never too low.
 * Not in these prices: faster or slower service, regional surcharges, and what tools of the provider cost by the call.
 */
import type { Price, Rates } from './prices.ts';

/** The first that matches counts. Names are without provider and date. */
export const PRICE_LIST: Readonly<Record<string, Price>> = {
  'claude-{fable,mythos}-5-1': {
    input: 10,
    output: 50,
    cacheRead: 0.25,
    cacheWrite: 12.5,
    cacheWriteHour: 20,
  },
  'claude-{fable,mythos}-5': { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, cacheWriteHour: 20 },
  'claude-opus-5-5': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5, cacheWriteHour: 8 },
  'claude-opus-{5,4-[5-8]}': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteHour: 10 },
  'claude-opus-{4,4-0,4-1}': { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75, cacheWriteHour: 30 },
  'claude-sonnet-{5,5-5}': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, cacheWriteHour: 4 },
  'claude-sonnet-4-6': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteHour: 6 },
  'claude-sonnet-{4,4-0,4-5}': tiered(
    200_000,
    { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteHour: 6 },
    { input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5, cacheWriteHour: 12 },
  ),
  'claude-haiku-5-5': tiered(
    100_000,
    { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWriteHour: 0.2 },
    { input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteHour: 1 },
  ),
  'claude-haiku-4-5': { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2 },

  'gpt-6-astra': longer({ input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 }),
  'gpt-6.1-sol': longer({ input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 }),
  'gpt-6-sol': longer({ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }),
  'gpt-6.1-terra': longer({ input: 1, output: 5 }),
  'gpt-6-luna': longer({ input: 0.1, output: 0.5 }),
  // reduced until 21 November 2026 at least; before that 5 and 30
  'gpt-5.6{,-sol}': longer({ input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 }),
  'gpt-5.6-terra': longer({ input: 2, output: 12, cacheRead: 0.2, cacheWrite: 2.5 }),
  'gpt-5.6-luna': longer({ input: 0.2, output: 1.2, cacheRead: 0.02, cacheWrite: 0.25 }),
  'gpt-5.5': longer({ input: 5, output: 30, cacheRead: 0.5 }),
  'gpt-5.4': longer({ input: 2.5, output: 15, cacheRead: 0.25 }),
  'gpt-5.4-mini': { input: 0.75, output: 4.5, cacheRead: 0.075 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25, cacheRead: 0.02 },
  'gpt-{5.2,5.2-codex,5.3-codex}': { input: 1.75, output: 14, cacheRead: 0.175 },
  'gpt-{5,5-codex,5.1,5.1-codex,5.1-codex-max}': { input: 1.25, output: 10, cacheRead: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cacheRead: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cacheRead: 0.005 },

  // until 31 December 2026; twice that from then on
  'gemini-3.8-flash': { input: 0.75, output: 3.75, cacheRead: 0.075 },
  'gemini-3.5-flash': { input: 1.5, output: 9 },
  'gemini-3.5-flash-lite': { input: 0.3, output: 2.5 },
  'gemini-{3,3.1}-pro{,-preview}': tiered(
    200_000,
    { input: 2, output: 12, cacheRead: 0.2 },
    { input: 4, output: 18, cacheRead: 0.4 },
  ),
  'gemini-3-flash{,-preview}': { input: 0.5, output: 3, cacheRead: 0.05 },
  'gemini-2.5-pro': tiered(
    200_000,
    { input: 1.25, output: 10, cacheRead: 0.125 },
    { input: 2.5, output: 15, cacheRead: 0.25 },
  ),
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cacheRead: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cacheRead: 0.01 },
};

/** OpenAI's models with a window of a million: a longer prompt costs twice, its answer half as much again. */
function longer(rates: Rates): Price {
  const twice = Object.fromEntries(Object.entries(rates).map(([name, usd]) => [name, 2 * Number(usd)]));
  return tiered(272_000, rates, { ...rates, ...twice, output: 1.5 * rates.output });
}

/** `high` is for the whole request, where its prompt is longer. */
function tiered(promptTokens: number, low: Rates, high: Rates): Price {
  return { ...low, above: { promptTokens, ...high } };
}
