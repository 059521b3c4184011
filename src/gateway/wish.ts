/** The most that a request can cost, as far as can be told before it is sent. Pure. */
import { NO_TOKENS, type Wish } from '../contract/model.ts';
import { loopOf } from './loop.ts';
import type { PriceOf } from './prices.ts';
import type { Route } from './route.ts';

/** A token is some four bytes of text; JSON around it and encoded pictures only make the estimate higher. */
const BYTES_PER_TOKEN = 4;
/** Where an agent sets no limit: answers of coding agents are seldom longer. */
const OUTPUT_TOKENS = 8192;
const MODEL_CHARS_MAX = 200;

export function wishOf(route: Route, body: unknown, bodyBytes: number, priceOf: PriceOf): Wish {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const said = route.model ?? fields.model;
  const model = typeof said === 'string' ? said.slice(0, MODEL_CHARS_MAX) : '';
  const { provider, api } = route;
  // What we cannot read may cost nothing or a lot: only what is known to be free is called free.
  if (api === undefined) return { provider, model, tokens: NO_TOKENS, usd: route.isFree ? 0 : null };
  const tokens = {
    ...NO_TOKENS,
    input: Math.ceil(bodyBytes / BYTES_PER_TOKEN),
    output: api === 'embeddings' ? 0 : (outputMax(fields) ?? OUTPUT_TOKENS),
  };
  const usd = hasListPrice(fields) ? priceOf(model, tokens) : null;
  const loop = api === 'embeddings' ? undefined : loopOf(api, body);
  const hasTools = Array.isArray(fields.tools) && fields.tools.length > 0;
  return { provider, model, tokens, usd, ...(loop && { loop }), ...(hasTools && { hasTools }) };
}

/** Faster service costs a multiple that the table does not know. */
function hasListPrice(fields: Record<string, unknown>): boolean {
  return fields.speed !== 'fast' && !['priority', 'flex', 'scale'].includes(String(fields.service_tier));
}

function outputMax(fields: Record<string, unknown>): number | undefined {
  const config = fields.generationConfig as Record<string, unknown> | null | undefined;
  const said =
    fields.max_tokens ?? fields.max_completion_tokens ?? fields.max_output_tokens ?? config?.maxOutputTokens;
  return typeof said === 'number' && said > 0 ? Math.min(said, 10_000_000) : undefined;
}
