/** What the schemas of outputs are made of, in more than one of them. */
import { z } from 'zod';
import { BUDGET_UNITS } from './budget-units.ts';
import { RUN_STATES, SHOWN_RUN_STATES, TASK_STATES } from './run-states.ts';
import { RUNTIMES } from './runtimes.ts';
import type { Json } from './workflow.ts';

export const opt = z.exactOptional;
export const text = z.string();
export const texts = z.array(text);
export const count = z.number();
export const flag = z.boolean();
export const unit = z.enum(BUDGET_UNITS);
export const runtime = z.enum(RUNTIMES);
export const json = z.custom<Json>((value) => value !== undefined, 'must be a value');
export const mark = z.strictObject({ account: text, unit, spent: count, limit: count, next: opt(count) });
export const tokens = z.strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count });
export const runState = z.enum(RUN_STATES);
export const shownRunState = z.enum(SHOWN_RUN_STATES);
export const pause = { by: text, sinceMs: count };
export const taskState = z.enum(TASK_STATES);
/** What tasks before an approval gave, for whoever has to decide. */
export const produced = z.array(z.strictObject({ task: text, label: opt(text), text }));
