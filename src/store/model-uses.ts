/** What models were used for in a run, summed up by task and model where the events are. */
import type { Spending } from '../contract/model.ts';

export type ModelUses = Spending & { task: string; model: string };

const TOKENS = ['input', 'output', 'cacheRead', 'cacheWrite'].map(
  (kind) => `sum(body ->> '$.tokens.${kind}') AS ${kind}`,
);

/** Of one run. */
export const MODEL_USES = `SELECT task, body ->> 'model' AS model, count(*) AS requests, total(body ->> 'usd') AS usd,
  sum(body ->> 'usd' IS NULL) AS unpriced, ${TOKENS.join(', ')}
  FROM event WHERE run = ? AND type = 'model.used' GROUP BY task, model`;

export function modelUseIn(row: Record<string, unknown>): ModelUses {
  const { task, model, requests, usd, unpriced, ...used } = row;
  return {
    task: String(task),
    model: String(model),
    requests: Number(requests),
    usd: Number(usd),
    unpriced: Number(unpriced),
    tokens: {
      input: Number(used['input']),
      output: Number(used['output']),
      cacheRead: Number(used['cacheRead']),
      cacheWrite: Number(used['cacheWrite']),
    },
  };
}
