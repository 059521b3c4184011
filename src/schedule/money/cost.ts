/** Adds up what was metered, request by request. Pure; a price that is not known never counts as nothing. */
import { NO_TOKENS, tokensInAll, type ModelUse, type Tokens } from '../../contract/model.ts';
import type { Cost } from '../../contract/report.ts';

export function noCost(): Cost {
  return costOf({
    usdKnown: 0,
    tokensByKind: { ...NO_TOKENS },
    requests: 0,
    unpriced: 0,
    ownLogin: 0,
    replayed: 0,
    estimated: 0,
  });
}

export function withUse(cost: Cost, { tokens, usd, ownLogin, replayed, estimated }: ModelUse): Cost {
  return costOf({
    usdKnown: cost.usdKnown + (usd ?? 0),
    tokensByKind: addTokens(cost.tokensByKind, tokens),
    requests: cost.requests + 1,
    unpriced: cost.unpriced + (usd === null ? 1 : 0),
    ownLogin: cost.ownLogin + (ownLogin ? 1 : 0),
    replayed: cost.replayed + (replayed ? 1 : 0),
    estimated: cost.estimated + (estimated ? 1 : 0),
  });
}

export function sumCosts(costs: Iterable<Cost>): Cost {
  const sum = noCost();
  for (const cost of costs) {
    sum.usdKnown += cost.usdKnown;
    sum.tokensByKind = addTokens(sum.tokensByKind, cost.tokensByKind);
    sum.requests += cost.requests;
    sum.unpriced += cost.unpriced;
    sum.ownLogin += cost.ownLogin;
    sum.replayed += cost.replayed;
    sum.estimated += cost.estimated;
  }
  return costOf(sum);
}

function costOf(parts: Omit<Cost, 'usd' | 'tokens'>): Cost {
  const { requests, unpriced, tokensByKind } = parts;
  const usdKnown = roundUsd(parts.usdKnown);
  return {
    ...parts,
    usd: requests === 0 || unpriced > 0 ? null : usdKnown,
    usdKnown,
    tokens: requests === 0 ? null : tokensInAll(tokensByKind),
  };
}

/** Sums of fractions: nobody wants to read 0.30000000000000004. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
