/** Figures about many runs, as a schema. */
import { z } from 'zod';
import { TOTALS_PER } from './operation.ts';
import { count, flag, opt, text } from './schema-parts.ts';

/** Of tasks that were worked on, by whatever `per` names; the most expensive first. */
export const Totals = z.strictObject({
  per: z.enum(TOTALS_PER),
  sinceMs: opt(count),
  runs: count,
  rows: z.array(
    z.strictObject({
      key: text,
      runs: count,
      tasks: count,
      failed: count,
      /** Of those that were done or failed; null where there are none. */
      failureRate: z.nullable(count),
      usd: count,
      /** Requests whose price nobody knows. */
      unpriced: count,
      requests: count,
      tokens: count,
      workedMs: count,
    }),
  ),
  /** There is more than that. */
  isCut: flag,
});
export type Totals = z.output<typeof Totals>;

/** One in ten runs stayed below `low`, half below `middle`, nine in ten below `high`. */
const spread = z.nullable(z.strictObject({ low: count, middle: count, high: count }));
/** By the last runs of a workflow that were done; null where there are none. */
export const Forecast = z.strictObject({
  workflow: text,
  runs: count,
  /** Those between them that failed, which no figure has. */
  failed: count,
  /** Requests whose price nobody knows. */
  unpriced: count,
  usd: spread,
  ms: spread,
});
export type Forecast = z.output<typeof Forecast>;
