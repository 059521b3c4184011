/** Runs at a glance, and what all of them may spend: schemas, as in outputs.ts. */
import { z } from 'zod';
import { ShownRun, ShownTask } from './run-schema.ts';
import { count, flag, opt, text } from './schema-parts.ts';

const stripTime = z.strictObject({ fromMs: count, toMs: z.nullable(count) });
const strip = z.strictObject({
  fromMs: count,
  toMs: count,
  lanes: count,
  bars: z.array(
    z.strictObject({
      task: text,
      label: text,
      attempt: count,
      lane: count,
      fromMs: count,
      toMs: z.nullable(count),
      end: z.nullable(z.enum(['done', 'failed', 'cancelled', 'lost'])),
      asked: z.array(stripTime),
    }),
  ),
  leftOut: count,
});

/** Of all runs of a user together; only those that have a limit. */
const SharedBudget = z.strictObject({
  /** `all:day`, `all:month`, `repository:day` or `repository:month`. */
  account: text,
  spentUsd: count,
  limitUsd: count,
});
export const SharedBudgets = z.array(SharedBudget);
export type SharedBudgetView = z.output<typeof SharedBudget>;

/** Of one repository. */
export const Overview = z.strictObject({
  runs: z.array(
    z.strictObject({
      run: ShownRun,
      strip,
      /** Those that need attention, and those at work; some of them where there are many. */
      tasks: z.array(ShownTask),
      /** Of one that has ended: a branch of the user's has its work. */
      isMerged: opt(flag),
    }),
  ),
  /** By the day on which a run began, in the time zone of the server; the last one is today. */
  days: opt(z.array(z.strictObject({ day: text, usd: count, tokens: count, cacheRead: count }))),
  /** What all runs of the user may spend. */
  shared: opt(SharedBudgets),
  /** The branch that is checked out. */
  branch: opt(text),
});
export type Overview = z.output<typeof Overview>;
