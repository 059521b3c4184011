/**
 * What tokens cost: finds a model's price, the user's own first, then ours, then a repository's. It never guesses:
 * unknown is null.
 */
import { compileGlobs } from '../../base/globs.ts';
import { PRICE_LIST } from './price-list.ts';
import type { Counted } from './usage.ts';

/** Dollars per million tokens. */
export interface Rates {
  input: number;
  output: number;
  /** As `input`, where not given: so is `cacheWrite`. */
  cacheRead?: number;
  cacheWrite?: number;
  /** For what is kept for an hour; as `cacheWrite`, where not given. */
  cacheWriteHour?: number;
}

export interface Price extends Rates {
  /** For the whole request, where its prompt, with what is cached, is longer than that. */
  above?: Rates & { promptTokens: number };
  /** What a longer prompt costs is not known. */
  promptTokensMax?: number;
}

/** Null where nobody knows the price. */
export type PriceOf = (model: string, tokens: Counted) => number | null;

const MILLION = 1_000_000;
/** Names come from agents. */
const REMEMBERED_MAX = 1000;

/** Those of `users` are by glob over names of models, and the first that fits counts; our own are by name. */
export function priceTable(users: Readonly<Record<string, Price>> = {}): PriceOf {
  const own = compiled(users);
  const remembered = new Map<string, Price | undefined>();
  return (model, tokens) => {
    if (!remembered.has(model)) {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear();
      const name = plainName(model);
      remembered.set(model, find(own, model) ?? find(own, name) ?? PRICE_LIST.get(name));
    }
    const price = remembered.get(model);
    return price === undefined ? null : costUsd(price, tokens);
  };
}

interface Row {
  matches(name: string): boolean;
  price: Price;
}

function compiled(prices: Readonly<Record<string, Price>>): Row[] {
  return Object.entries(prices).map(([glob, price]) => ({ matches: compileGlobs([glob]), price }));
}

function find(rows: Row[], name: string): Price | undefined {
  return name === '' ? undefined : rows.find(({ matches }) => matches(name))?.price;
}

function costUsd(price: Price, tokens: Counted): number | null {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  if (prompt > (price.promptTokensMax ?? Infinity)) return null;
  const rates: Rates = price.above !== undefined && prompt > price.above.promptTokens ? price.above : price;
  const { input, output, cacheRead = input, cacheWrite = input, cacheWriteHour = cacheWrite } = rates;
  const forAnHour = tokens.cacheWriteHour ?? 0;
  const sum =
    tokens.input * input +
    tokens.output * output +
    tokens.cacheRead * cacheRead +
    (tokens.cacheWrite - forAnHour) * cacheWrite +
    forAnHour * cacheWriteHour;
  return sum / MILLION;
}

/** Without who serves it and when it was made: `us.anthropic.claude-haiku-4-5-20251001-v1:0` → `claude-haiku-4-5`. */
export function plainName(model: string): string {
  const name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^([a-z-]+\.)*anthropic\./, '')
    .replace(/-v\d+(:\d+)?$/, '')
    .replace(/[-@]20\d\d-?\d\d-?\d\d$/, '')
    .replace(/-latest$/, '');
  return name.startsWith('claude-') ? name.replaceAll('.', '-') : name;
}
