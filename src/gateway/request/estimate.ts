/** What a request may cost, as far as can be told before it is sent: what is likely, and the worst case. Pure. */
import { NO_TOKENS, type RequestEstimate } from '../../contract/model.ts';
import { loopOf } from './repeated-calls.ts';
import { outputTokensMaxOf } from '../money/price-list.ts';
import type { PriceOf } from '../money/prices.ts';
import type { Api, Route } from './route.ts';
import type { Counted } from '../money/usage.ts';
import { fieldsOf, isFields, type Fields } from '../../base/fields.ts';

/** A token is some four bytes of text; JSON around it and encoded pictures only make the estimate higher. */
const BYTES_PER_TOKEN = 4;
/** Some models take a large picture for so many, however few its bytes are. */
const PICTURE_TOKENS_MAX = 40_000;
const MODEL_CHARS_MAX = 200;
/** What is asked for beyond this is a mistake, and would only make the sums useless. */
const OUTPUT_TOKENS_MAX = 10_000_000;
const ANSWERS_MAX = 1000;

/** What a body says of its cost. */
export interface RequestFacts {
  /** Empty where it names none. */
  model: string;
  /** Of all answers; undefined where as many as the model can write. */
  outputMax?: number;
  answers: number;
  hasListPrice: boolean;
  isStored: boolean;
  loop?: RequestEstimate['loop'];
  hasTools: boolean;
}

export function askedIn(api: Api | undefined, body: unknown): RequestFacts {
  const fields = fieldsOf(body);
  const model = typeof fields.model === 'string' ? fields.model.slice(0, MODEL_CHARS_MAX) : '';
  const asked = { model, answers: 1, hasListPrice: true, isStored: false, hasTools: false };
  if (api === undefined) return asked;
  const output = outputMax(api, fields);
  const loop = api === 'embeddings' ? undefined : loopOf(api, body);
  return {
    model,
    ...(output !== undefined && { outputMax: output }),
    answers: answers(fields),
    hasListPrice: hasListPrice(fields),
    isStored: refersToStored(fields),
    ...(loop && { loop }),
    hasTools: offersTools(fields),
  };
}

export function estimateOf(
  { provider, api, isFree, model: named }: Route,
  asked: RequestFacts,
  { bytes, pictures }: { bytes: number; pictures: number },
  priceOf: PriceOf,
): RequestEstimate {
  const { loop } = asked;
  const model = named?.slice(0, MODEL_CHARS_MAX) ?? asked.model;
  // What we cannot read may cost nothing or a lot: only what is known to be free is called free.
  if (api === undefined) return { provider, model, tokens: NO_TOKENS, tokensMax: 0, usd: isFree ? 0 : null };
  const most = asked.outputMax ?? outputTokensMaxOf(model);
  const output = api === 'embeddings' ? 0 : most * asked.answers;
  const tokens = { ...NO_TOKENS, input: Math.ceil(bytes / BYTES_PER_TOKEN), output };
  const inputMax = bytes + pictures * PICTURE_TOKENS_MAX; // no token of a text is less than a byte
  const isPriced = asked.hasListPrice && priceOf(model, tokens) !== null;
  return {
    provider,
    model,
    tokens,
    tokensMax: inputMax + output,
    usd: isPriced ? worstUsd(model, inputMax, output, priceOf) : null,
    ...(asked.isStored && { isUnbounded: true }),
    ...(asked.outputMax === undefined && api !== 'embeddings' && { isOutputOpen: true }),
    ...(loop && { loop }),
    ...(asked.hasTools && { hasTools: true }),
  };
}

/** With a token per byte, all of them at the highest price that input can have: written to a cache, mostly. */
function worstUsd(model: string, input: number, output: number, priceOf: PriceOf): number {
  let worst = 0;
  for (const kind of INPUT_KINDS) {
    const cost = priceOf(model, kind(input, output));
    if (cost !== null) worst = Math.max(worst, cost);
    else {
      // Beyond what the table has a price for: at the price of what is below.
      const [none, one] = [priceOf(model, kind(0, output)) ?? 0, priceOf(model, kind(1, output)) ?? 0];
      worst = Math.max(worst, none + (one - none) * input);
    }
  }
  return worst;
}

const INPUT_KINDS: ((count: number, output: number) => Counted)[] = [
  (count, output) => ({ input: count, output, cacheRead: 0, cacheWrite: 0 }),
  (count, output) => ({ input: 0, output, cacheRead: 0, cacheWrite: count }),
  (count, output) => ({ input: 0, output, cacheRead: 0, cacheWrite: count, cacheWriteHour: count }),
  (count, output) => ({ input: 0, output, cacheRead: count, cacheWrite: 0 }),
];

/** Faster service, or one in a place of choice, costs a multiple that the table does not know. */
function hasListPrice(fields: Fields): boolean {
  const { inference_geo: place = null } = fields;
  if (place !== null && place !== 'global') return false;
  return fields.speed !== 'fast' && !['priority', 'flex', 'scale'].includes(String(fields.service_tier));
}

/** By the names that the interface reads: a server may ignore all others, and write as much as it can. */
function outputMax(api: Api, fields: Fields): number | undefined {
  const said = OUTPUT_NAMED[api](fields).filter(
    (count): count is number => typeof count === 'number' && count > 0,
  );
  return said.length === 0 ? undefined : Math.min(Math.max(...said), OUTPUT_TOKENS_MAX);
}

const OUTPUT_NAMED: Record<Api, (fields: Fields) => unknown[]> = {
  messages: (fields) => [fields.max_tokens],
  chat: (fields) => [fields.max_tokens, fields.max_completion_tokens],
  responses: (fields) => [fields.max_output_tokens],
  embeddings: () => [],
  generate: (fields) =>
    configs(fields).flatMap((config) => [config.maxOutputTokens, config.max_output_tokens]),
};

/** Some interfaces give several answers to one request. */
function answers(fields: Fields): number {
  const said = [fields.n, ...configs(fields).flatMap((each) => [each.candidateCount, each.candidate_count])];
  const most = Math.max(1, ...said.map((count) => Number(count ?? 1) || 1)); // some servers read "8", too
  return Math.min(Math.ceil(most), ANSWERS_MAX);
}

/** Gemini reads both spellings. */
function configs({ generationConfig, generation_config }: Fields): Fields[] {
  return [generationConfig, generation_config].filter(isFields);
}

/** Conversations, prompts and caches that the provider keeps are input, too. */
function refersToStored(fields: Fields): boolean {
  const { previous_response_id, conversation, prompt, cachedContent, cached_content } = fields;
  return [previous_response_id, conversation, prompt, cachedContent, cached_content].some(
    (stored) => stored !== undefined && stored !== null,
  );
}

/** Codex puts those of its newer models into the conversation. */
function offersTools({ tools, input }: Fields): boolean {
  const isSome = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
  return isSome(tools) || (Array.isArray(input) && input.some((item) => isSome(fieldsOf(item).tools)));
}
