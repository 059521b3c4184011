/** The schema of a run's report, for programs that read it; the compiler holds it and the types together. */
import { z } from 'zod';
import type { RunReport } from './report.ts';
import {
  count,
  flag,
  json,
  mark,
  opt,
  pause,
  produced,
  runtime,
  shownRunState,
  taskState,
  text,
  texts,
  tokens,
  unit,
} from './schema-parts.ts';

const reason = z.enum([
  'exit',
  'agent',
  'timeout',
  'limit',
  'check',
  'output',
  'conflict',
  'rejected',
  'expression',
  'setup',
  'collect',
  'start',
  'expand',
  'budget',
  'tasks',
  'judge',
  'vetoed',
]);

const cost = z.strictObject({
  usd: z.nullable(count),
  usdKnown: count,
  tokens: z.nullable(count),
  tokensByKind: tokens,
  requests: count,
  unpriced: count,
  ownLogin: count,
  replayed: count,
  estimated: count,
});

const facts = z.strictObject({
  id: text,
  name: text,
  state: shownRunState,
  because: z.nullable(z.literal('budget')),
  short: z.nullable(mark),
  paused: z.nullable(z.strictObject(pause)),
  startedAtMs: count,
  endedAtMs: z.nullable(count),
  durationMs: count,
  idleMs: count,
  baseCommit: text,
  branch: text,
  headCommit: text,
  source: text,
  hash: z.nullable(text),
  dirty: flag,
  inputs: z.record(text, json),
});

const totals = z.strictObject({
  tasks: count,
  byState: z.partialRecord(taskState, count),
  attempts: count,
  changedFiles: count,
  linesAdded: z.nullable(count),
  linesRemoved: z.nullable(count),
  cost,
});

const attempt = z.strictObject({
  n: count,
  purpose: z.enum(['work', 'resolve']),
  startedAtMs: count,
  endedAtMs: z.nullable(count),
  durationMs: z.nullable(count),
  outcome: z.nullable(z.enum(['done', 'failed', 'cancelled', 'lost'])),
  exit: z.nullable(
    z.strictObject({ reason, message: text, code: z.nullable(count), signal: z.nullable(text) }),
  ),
  workspace: z.nullable(text),
  snapshot: z.nullable(text),
  changed: z.array(z.strictObject({ path: text, change: z.enum(['added', 'modified', 'deleted']) })),
  changedCount: count,
  refused: texts,
  outside: texts,
  outsideCount: count,
  artifacts: texts,
  feedback: z.nullable(text),
  recap: opt(text),
  runtime: z.nullable(runtime),
  fallback: z.nullable(z.strictObject({ runtime, model: opt(text), because: text })),
  models: texts,
  session: z.nullable(text),
  turns: z.nullable(count),
  toolCalls: z.nullable(count),
  error: z.nullable(
    z.strictObject({
      kind: z.enum([
        'auth',
        'rate-limit',
        'overloaded',
        'bad-request',
        'context-full',
        'network',
        'timeout',
        'budget',
        'refused',
        'crashed',
      ]),
      message: text,
      status: opt(count),
    }),
  ),
  cost,
  claim: z.nullable(z.strictObject({ usd: z.nullable(count), tokens: count, differs: flag })),
  progress: z.nullable(z.strictObject({ text, percent: z.nullable(count) })),
});

const task = z.strictObject({
  id: text,
  label: text,
  parent: z.nullable(text),
  group: z.nullable(z.enum(['for-each', 'uses', 'expand', 'handoff', 'continuous', 'race'])),
  state: taskState,
  agent: z.nullable(text),
  title: text,
  needs: texts,
  attempts: z.array(attempt),
  startedAtMs: z.nullable(count),
  endedAtMs: z.nullable(count),
  reason: z.nullable(reason),
  message: z.nullable(text),
  picked: z.nullable(text),
  isReplaced: opt(z.literal(true)),
  isPast: opt(z.literal(true)),
  result: z.nullable(
    z.strictObject({
      done: count,
      all: count,
      failures: z.array(z.strictObject({ task: text, state: taskState, message: text })),
      summary: text,
    }),
  ),
  commit: z.nullable(text),
  access: z.array(
    z.strictObject({
      id: text,
      attempt: count,
      globs: texts,
      patch: opt(text),
      answer: z.nullable(z.enum(['yes', 'no', 'applied'])),
      by: z.nullable(text),
      why: z.nullable(text),
    }),
  ),
  denied: z.array(z.strictObject({ host: text, port: count, why: text, count })),
  deniedLeftOut: count,
  services: opt(z.array(z.strictObject({ name: text, port: count }))),
  cost,
  diff: z.nullable(
    z.strictObject({
      patch: text,
      files: count,
      linesAdded: count,
      linesRemoved: count,
      linesLeftOut: count,
    }),
  ),
  output: json,
  log: z.strictObject({
    lines: z.array(
      z.strictObject({
        attempt: count,
        stream: z.enum(['stdout', 'stderr', 'check', 'setup', 'agent']),
        text,
      }),
    ),
    linesLeftOut: count,
    droppedBytes: count,
  }),
});

/** What an agent said to others. */
const message = z.strictObject({
  id: text,
  task: text,
  attempt: count,
  to: text,
  text,
  urgent: flag,
  sentAtMs: count,
  readers: z.array(z.strictObject({ task: text, readAtMs: z.nullable(count) })),
  refused: z.nullable(text),
});

/** What agents of a run said to each other; `labels` has what people call tasks, where that is not their id. */
export const Messages = z.strictObject({
  run: text,
  startedAtMs: count,
  messages: z.array(message),
  leftOut: count,
  labels: z.record(text, text),
});
export type Messages = z.output<typeof Messages>;

export const Report = z.strictObject({
  version: z.literal(1),
  run: facts,
  isolation: texts,
  totals,
  tasks: z.array(task),
  conflicts: z.array(
    z.strictObject({
      task: text,
      attempt: count,
      files: texts,
      with: texts,
      resolved: z.nullable(text),
    }),
  ),
  questions: z.array(
    z.strictObject({
      id: text,
      task: text,
      text,
      produced,
      choices: texts,
      several: flag,
      freeText: flag,
      default: z.nullable(text),
      askedAtMs: count,
      answer: z.nullable(text),
      by: z.nullable(text),
      note: z.nullable(text),
      answeredAtMs: z.nullable(count),
    }),
  ),
  messages: z.array(message),
  messagesLeftOut: count,
  budgets: z.array(
    z.strictObject({
      account: text,
      limits: z.array(z.strictObject({ unit, limit: count, spent: count })),
      warnings: z.array(z.strictObject({ atMs: count, unit, spent: count, limit: count })),
      raises: z.array(z.strictObject({ atMs: count, unit, limit: count, by: text })),
    }),
  ),
  waits: z.array(z.strictObject({ provider: text, why: text, count, waitedMs: count })),
  next: z.array(z.strictObject({ command: text, why: text })),
}) satisfies z.ZodType<RunReport>;

/** The other way round. */
type Given = z.output<typeof Report>;
true satisfies RunReport extends Given ? true : false;
type Item<T, Key extends keyof T> = T[Key] extends readonly (infer One)[] ? One : T[Key];
type Differing = {
  [Key in keyof Given]: keyof Item<RunReport, Key> extends keyof Item<Given, Key> ? never : Key;
}[keyof Given];
true satisfies [Differing] extends [never] ? true : Differing;
