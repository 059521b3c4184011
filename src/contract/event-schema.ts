/**
 * The schema of each event, by its type: what is read from a journal is held against it. The compiler holds schemas and
 * types together, so that neither can change alone. Large values that others wrote (workflows, outputs, plans) are only
 * looked at from outside: they were checked when they came in, and a resume reads tens of thousands of events.
 */
import { z } from 'zod';
import type { EventOf, EventType } from './event.ts';
import { RUNTIMES } from './runtimes.ts';
import { BUDGET_UNITS } from './budget-units.ts';
import type { Json, Tasks, Workflow } from './workflow.ts';

const text = z.string();
const count = z.number();
const texts = z.array(text);
const flag = z.boolean();
const yesOrNo = z.enum(['yes', 'no']);
const mode = z.enum(['graceful', 'now']);
const unit = z.enum(BUDGET_UNITS);
const runtime = z.enum(RUNTIMES);
const isMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const json = z.custom<Json>((value) => value !== undefined);
const jsonMap = z.custom<Record<string, Json>>(isMap, 'expected a map');
const textMap = z.custom<Record<string, string>>(isMap, 'expected a map');
const opt = z.exactOptional;

const ref = z.object({ hash: text, bytes: count });
const session = z.object({ id: text, fork: flag });
const tokens = z.object({ input: count, output: count, cacheRead: count, cacheWrite: count });
const change = { path: text, change: z.enum(['added', 'modified', 'deleted']) };
const conflict = z.object({ files: texts, with: texts });
const mark = { account: text, unit, spent: count, limit: count, next: opt(count) };
const error = z.object({
  kind: z.enum([
    'auth', 'rate-limit', 'overloaded', 'bad-request', 'network', 'timeout', 'budget', 'refused', 'crashed',
  ]),
  message: text,
  status: opt(count),
}); // prettier-ignore

const reason = z.enum([
  'exit', 'agent', 'timeout', 'limit', 'check', 'output', 'conflict', 'rejected', 'expression', 'setup', 'collect',
  'start', 'expand', 'budget', 'tasks',
]); // prettier-ignore

const outcomes = [
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('failed'), reason, message: text, exitCode: opt(count), signal: opt(text) }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({ kind: z.literal('lost'), because: opt(text) }),
] as const;
const skipped = z.object({
  kind: z.literal('skipped'),
  because: z.enum(['condition', 'need', 'stopped']),
  message: text,
});

const collected = z.object({
  commit: text,
  changed: z.array(z.object(change)),
  changedCount: count,
  refused: texts,
  outside: opt(z.object({ snapshot: text, files: z.array(z.object({ ...change, why: text })), count })),
  artifacts: texts,
});

const agentEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), session: opt(text), model: opt(text) }),
  z.object({ kind: z.literal('text'), text }),
  z.object({ kind: z.literal('tool-call'), id: text, name: text, input: text }),
  z.object({ kind: z.literal('tool-result'), id: text, isError: flag, text }),
  z.object({ kind: z.literal('file-changed'), path: text }),
  z.object({ kind: z.literal('asked'), id: text, text, answer: yesOrNo }),
  z.object({ kind: z.literal('usage'), tokens, usd: opt(count) }),
  z.object({ kind: z.literal('error'), error }),
  z.object({ kind: z.literal('finished'), turns: count, toolCalls: count }),
]);

const of = { task: text, attempt: count };

function event<T extends EventType, S extends z.ZodRawShape>(
  type: T,
  shape: S,
): z.ZodObject<{ type: z.ZodLiteral<T> } & S> {
  return z.object({ type: z.literal(type), ...shape });
}

/** Made when they are asked for: a journal has few of them, and to make all takes a while. */
export const EVENT_SCHEMAS = {
  'run.created': () =>
    event('run.created', {
      id: text,
      workflow: z.custom<Workflow>(isMap, 'expected a map'),
      source: text,
      inputs: jsonMap,
      base: text,
      dirty: flag,
    }),
  'run.isolation': () =>
    event('run.isolation', {
      kind: z.enum(['fences', 'macos', 'namespaces', 'none']),
      uid: opt(count),
      limits: opt(
        z.object({
          memory: z.enum(['cgroup', 'watchdog']),
          processes: z.enum(['cgroup', 'prlimit']),
          cpu: z.enum(['cgroup', 'watchdog']),
          disk: z.literal('watchdog'),
          'open files': z.literal('prlimit'),
        }),
      ),
      lacks: opt(text),
      notes: texts,
    }),
  'run.resumed': () => event('run.resumed', { by: text }),
  'run.cancelling': () => event('run.cancelling', { mode, by: text }),
  'task.retried': () => event('task.retried', { task: text, by: text }),
  'timer.fired': () => event('timer.fired', of),
  'question.answered': () =>
    event('question.answered', { id: text, answer: yesOrNo, by: text, note: opt(text) }),
  'access.requested': () => event('access.requested', { ...of, id: text, globs: texts }),
  'access.said': () => event('access.said', { ...of, id: text, owner: text, answer: yesOrNo }),
  'access.unanswered': () => event('access.unanswered', { ...of, id: text }),
  'attempt.workspace': () => event('attempt.workspace', { ...of, workspace: text, base: text }),
  'attempt.output': () =>
    event('attempt.output', {
      ...of,
      stream: z.enum(['stdout', 'stderr', 'check', 'setup']),
      text: opt(text),
      base64: opt(text),
      droppedBytes: opt(count),
      dropped: opt(z.literal('run')),
    }),
  'attempt.agent': () => event('attempt.agent', { ...of, event: agentEvent }),
  'model.used': () =>
    event('model.used', {
      ...of,
      note: opt(text),
      provider: text,
      model: text,
      tokens,
      usd: z.nullable(count),
      ownLogin: opt(z.literal(true)),
      replayed: opt(z.literal(true)),
      estimated: opt(z.literal(true)),
    }),
  'clock.jumped': () => event('clock.jumped', { ms: count }),
  'model.waiting': () =>
    event('model.waiting', { provider: text, delayMs: count, why: text, tasks: opt(texts) }),
  'attempt.asked': () =>
    event('attempt.asked', {
      ...of,
      id: text,
      text,
      default: yesOrNo,
      timeoutMs: opt(count),
      budget: opt(z.object({ ...mark, raiseTo: count, isHard: flag })),
    }),
  'attempt.held': () =>
    event('attempt.held', {
      ...of,
      by: z.enum(['question', 'budget', 'provider', 'turn', 'slot']),
      text,
      provider: opt(text),
    }),
  'run.noted': () => event('run.noted', { text }),
  'attempt.released': () => event('attempt.released', of),
  'budget.warned': () => event('budget.warned', mark),
  'budget.set': () =>
    event('budget.set', {
      account: text,
      limits: z.object({ usd: opt(count), tokens: opt(count), requests: opt(count), minutes: opt(count) }),
      by: text,
    }),
  'task.steered': () => event('task.steered', { task: text, text, by: text }),
  'attempt.denied': () => event('attempt.denied', { ...of, host: text, port: count, why: text }),
  'attempt.finished': () =>
    event('attempt.finished', {
      ...of,
      outcome: z.discriminatedUnion('kind', outcomes),
      durationMs: count,
      collected: opt(collected),
      output: opt(json),
      outputRef: opt(ref),
      feedback: opt(text),
      error: opt(error),
      expansion: opt(z.custom<Tasks>(isMap, 'expected a map')),
    }),
  'task.merged': () =>
    event('task.merged', {
      ...of,
      commit: opt(text),
      shadow: text,
      result: text,
      conflict: opt(conflict.extend({ resolved: text })),
    }),
  'task.conflicted': () => event('task.conflicted', { ...of, conflict, marked: text }),
  'attempt.started': () =>
    event('attempt.started', {
      ...of,
      purpose: z.enum(['work', 'resolve']),
      from: texts,
      continues: opt(count),
      prompt: text,
      promptRef: opt(ref),
      feedback: opt(text),
      env: opt(textMap),
      envRef: opt(ref),
      artifacts: opt(texts),
      session: opt(session),
      fallback: opt(z.object({ runtime, model: opt(text), because: text })),
    }),
  'attempt.stopping': () => event('attempt.stopping', { ...of, mode }),
  'run.reopened': () =>
    event('run.reopened', {
      tasks: z.array(
        z.object({
          task: text,
          onTop: opt(z.literal(true)),
          continues: opt(count),
          session: opt(session),
        }),
      ),
      because: text,
    }),
  'tasks.ready': () => event('tasks.ready', { tasks: texts }),
  'task.admitted': () => event('task.admitted', { task: text }),
  'task.again': () =>
    event('task.again', {
      ...of,
      why: z.enum(['lost', 'feedback', 'fallback', 'conflict']),
      because: text,
      place: z.enum(['first', 'last']),
      delayMs: opt(count),
      continues: opt(count),
      feedback: opt(text),
      session: opt(session),
      fallback: opt(z.object({ runtime, model: opt(text) })),
    }),
  'task.delayed': () =>
    event('task.delayed', { ...of, delayMs: count, because: text, session: opt(session) }),
  'task.expanded': () =>
    event('task.expanded', {
      task: text,
      kind: z.enum(['for-each', 'uses', 'expand', 'handoff', 'continuous']),
      items: opt(z.array(json)),
      inputs: opt(jsonMap),
    }),
  'task.handed': () =>
    event('task.handed', {
      task: text,
      at: count,
      agent: text,
      rejected: opt(z.object({ by: text, reasons: text })),
    }),
  'task.round': () => event('task.round', { task: text, why: z.enum(['first', 'every', 'on', 'final']) }),
  'task.resting': () => event('task.resting', { task: text, delayMs: opt(count) }),
  'task.merging': () => event('task.merging', { ...of, commit: text }),
  'access.asked': () =>
    event('access.asked', { ...of, id: text, globs: texts, owners: texts, timeoutMs: count }),
  'access.answered': () =>
    event('access.answered', {
      ...of,
      id: text,
      globs: texts,
      answer: yesOrNo,
      by: text,
      why: text,
    }),
  'attempt.answered': () =>
    event('attempt.answered', {
      ...of,
      id: text,
      answer: yesOrNo,
      by: text,
      limit: opt(count),
      stops: opt(z.object(mark)),
    }),
  'question.asked': () =>
    event('question.asked', {
      id: text,
      task: text,
      text,
      default: yesOrNo,
      timeoutMs: opt(count),
    }),
  'task.finished': () =>
    event('task.finished', {
      task: text,
      outcome: z.discriminatedUnion('kind', [...outcomes, skipped]),
      output: opt(json),
      outputRef: opt(ref),
      halts: opt(texts),
    }),
  'run.finished': () =>
    event('run.finished', {
      state: z.enum(['done', 'failed', 'cancelled']),
      because: opt(z.literal('budget')),
    }),
} satisfies { [T in EventType]: () => z.ZodType<EventOf<T>> };

/** The other way round: what the types allow, the schemas accept, field by field. One that differs is an error here. */
type Input<T extends EventType> = z.input<ReturnType<(typeof EVENT_SCHEMAS)[T]>>;
type Differing = {
  [T in EventType]: EventOf<T> extends Input<T>
    ? [keyof EventOf<T>] extends [keyof Input<T>]
      ? never
      : T
    : T;
}[EventType];
true satisfies [Differing] extends [never] ? true : Differing;
