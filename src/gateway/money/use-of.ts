/** What a request has used, once no more of its answer comes: as the provider said, else estimated. Reads the clock. */
import { NO_TOKENS, type RequestEstimate, type SettledUse, type Tokens } from '../../contract/model.ts';
import type { Meter } from './meter.ts';
import { mostPossible } from './most-possible.ts';
import type { PriceOf } from './prices.ts';

/** A request that is on its way. */
export interface SentRequest extends RequestEstimate {
  sentMs: number;
}

/** What was heard of an answer; nothing where none came. */
interface Heard {
  ownLogin?: true | undefined;
  replayed?: true | undefined;
  meter?: Meter | undefined;
  isWhole?: boolean;
}

/**
 * What the provider reports counts as far as it is possible. Of a request whose final counts never came: what it had
 * for input, and what can have been written in the time.
 */
export function useOf(priceOf: PriceOf, estimate: SentRequest, heard: Heard): SettledUse {
  const { ownLogin, replayed, meter, isWhole = false } = heard;
  const { provider, model } = estimate;
  const own = { ...(ownLogin && { ownLogin }), ...(replayed && { replayed }) };
  if (estimate.tokensMax === 0) return { provider, model, tokens: NO_TOKENS, usd: estimate.usd, ...own };
  const { tokens: told, outputGuess, isFinal, isEmpty, bytes } = meter?.seen() ?? NOTHING_SEEN;
  const said = told && mostPossible(estimate, told, bytes);
  const isOverstated = said !== told;
  // Nothing was sent for no input: a count of 0 is none, or not one that can be read.
  const hasInput = said !== undefined && said.input + said.cacheRead + said.cacheWrite > 0;
  const hasOutput = said !== undefined && (said.output > 0 || outputGuess === 0 || isEmpty);
  const isEstimated = isOverstated || !hasInput || !hasOutput || !(isWhole || isFinal);
  const counted = hasInput ? { ...said } : { ...estimate.tokens, output: said?.output ?? 0 };
  if (isEstimated) {
    const inTime = isWhole ? 0 : ((performance.now() - estimate.sentMs) / 1000) * OUTPUT_TOKENS_PER_S;
    const guess = Math.min(Math.ceil(Math.max(outputGuess, inTime)), estimate.tokens.output);
    counted.output = Math.max(counted.output, guess);
  }
  const usd = estimate.usd === null ? null : priceOf(model, counted);
  const tokens = tokensOf(counted);
  return {
    provider,
    model,
    tokens,
    usd,
    ...own,
    ...(isEstimated && { estimated: true }),
    ...(isOverstated && { overstated: tokensOf(told!) }),
  };
}

function tokensOf({ input, output, cacheRead, cacheWrite }: Tokens): Tokens {
  return { input, output, cacheRead, cacheWrite };
}

const NOTHING_SEEN = { tokens: undefined, outputGuess: 0, isFinal: false, isEmpty: false, bytes: 0 };
/** Fast models write so much. */
const OUTPUT_TOKENS_PER_S = 100;
