/**
 * Holds what a provider reports to what the request can have used: one that reported a million times as much would
 * empty every budget with one answer. It only ever lowers counts. Pure.
 */
import type { RequestEstimate } from '../../contract/model.ts';
import type { Counted } from './usage.ts';

export const POSSIBLE_LIMITS = {
  /** What a provider adds to a request on its own: instructions for tools, a system prompt. */
  addedTokensMax: 10_000,
  /** What it has stored, or fetches itself: no model reads more for one answer. */
  storedTokensMax: 2_000_000,
};

/** `answerBytes` is how long the answer was. Gives `counted` itself where it is possible. */
export function mostPossible(estimate: RequestEstimate, counted: Counted, answerBytes: number): Counted {
  const { tokens, tokensMax, isUnbounded, isOutputOpen } = estimate;
  const { addedTokensMax, storedTokensMax } = POSSIBLE_LIMITS;
  const inputMax = tokensMax - tokens.output + addedTokensMax + (isUnbounded ? storedTokensMax : 0);
  const outputMax = isOutputOpen ? Math.max(tokens.output, answerBytes) : tokens.output;
  const input = counted.input + counted.cacheRead + counted.cacheWrite;
  if (input <= inputMax && counted.output <= outputMax) return counted;
  const share = (count: number): number => Math.floor(count * Math.min(1, inputMax / input));
  const { cacheWriteHour } = counted;
  return {
    input: share(counted.input),
    output: Math.min(counted.output, Math.ceil(outputMax)),
    cacheRead: share(counted.cacheRead),
    cacheWrite: share(counted.cacheWrite),
    ...(cacheWriteHour !== undefined && { cacheWriteHour: share(cacheWriteHour) }),
  };
}
