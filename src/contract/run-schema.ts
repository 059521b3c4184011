/** Runs, their questions and tasks as people see them: schemas, as in outputs.ts. */
import { z } from 'zod';
import { overrun } from './mcp-outputs.ts';
import { QUESTION_KINDS } from './run.ts';
import {
  count,
  mark,
  opt,
  produced,
  pause,
  runState,
  runtime,
  shownRunState,
  taskState,
  text,
  texts,
  tokens,
  unit,
} from './schema-parts.ts';

export const limits = z.partialRecord(unit, count);
export const spending = z.strictObject({
  requests: count,
  tokens,
  usd: count,
  unpriced: count,
  estimated: opt(count),
});
export const question = z.strictObject({
  id: text,
  task: text,
  kind: z.enum(QUESTION_KINDS),
  attempt: opt(count),
  label: opt(text),
  text,
  default: z.nullable(text),
  choices: opt(z.array(z.strictObject({ label: text, about: opt(text) }))),
  several: opt(z.literal(true)),
  freeText: opt(z.literal(true)),
  askedAtMs: count,
  deadlineAtMs: opt(count),
  globs: opt(texts),
  owners: opt(z.array(z.strictObject({ task: text, label: opt(text), state: taskState }))),
  budget: opt(mark.extend({ raiseTo: count })),
  diff: opt(text),
  produced: opt(produced),
  timeoutMs: opt(count),
  pausedSinceMs: opt(count),
});

export const Run = z.strictObject({
  id: text,
  name: text,
  about: opt(text),
  state: runState,
  createdAtMs: count,
  endedAtMs: opt(count),
  idleMs: opt(count),
  baseCommit: text,
  headCommit: text,
  branch: text,
  counts: z.partialRecord(taskState, count),
  askingCount: opt(count),
  askingGroups: opt(count),
  lastSeq: count,
  questions: z.array(question),
  pending: opt(z.strictObject({ by: text })),
  parent: opt(z.strictObject({ run: text, task: text })),
  paused: opt(z.strictObject({ ...pause, idleSinceMs: opt(count) })),
  spending: opt(spending),
  limits: opt(limits),
  because: opt(z.literal('budget')),
  short: opt(mark),
  overruns: opt(z.array(overrun)),
  landed: opt(
    z.strictObject({
      kind: z.enum(['fast-forward', 'merged', 'squashed']),
      from: text,
      to: text,
      branch: opt(text),
      head: text,
      by: text,
      atMs: count,
    }),
  ),
  waits: opt(z.array(z.strictObject({ provider: text, untilMs: count, why: text }))),
});
export const Runs = z.array(Run);

/** With `interrupted` for a run that has not ended and that nobody drives. */
export const ShownRun = Run.extend({
  state: shownRunState,
  /** In a list of runs, of one that has ended and changed something: whether a branch of the user's has its work. */
  isMerged: opt(z.boolean()),
});
export const ShownRuns = z.array(ShownRun);
export type ShownRun = z.output<typeof ShownRun>;

export const ShownTask = z.strictObject({
  id: text,
  label: opt(text),
  state: taskState,
  attempt: count,
  order: text,
  parent: opt(text),
  agent: opt(text),
  startedAtMs: opt(count),
  endedAtMs: opt(count),
  workedMs: opt(count),
  attemptAtMs: opt(count),
  message: opt(text),
  lastLine: opt(text),
  commit: opt(text),
  changedCount: opt(count),
  outsideCount: opt(count),
  held: opt(
    z.strictObject({
      by: z.enum(['question', 'budget', 'provider', 'turn', 'slot', 'pause', 'hook']),
      text,
      provider: opt(text),
      sinceMs: count,
    }),
  ),
  paused: opt(z.strictObject({ ...pause, with: opt(text) })),
  progress: opt(z.strictObject({ text, percent: opt(count) })),
  services: opt(z.array(z.strictObject({ name: text, port: count }))),
  within: opt(z.strictObject({ ended: count, all: count })),
  retry: opt(z.strictObject({ atMs: count, attempt: count, attemptsMax: count })),
  picked: opt(text),
  steerable: opt(z.literal(false)),
  runtime: opt(runtime),
  spending: opt(spending),
});
