/**
 * The schema of each event, by its type: what is read from a journal is held against it. The compiler holds schemas and
 * types together, so that neither can change alone. Large values that others wrote (workflows, outputs, plans) are only
 * looked at from outside: they were checked when they came in, and a resume reads tens of thousands of events.
 */
import type { EventOf, EventType } from './event.ts';
import { HOOK_MOMENTS, type HookMoment } from './hook.ts';
import { RUNTIMES } from './runtimes.ts';
import { BUDGET_UNITS } from './budget-units.ts';
import type { Json, Task, Tasks, Workflow } from './workflow.ts';
import {
  byKind,
  count,
  custom,
  flag,
  isMap,
  list,
  literal,
  nullable,
  object,
  oneOf,
  optional as opt,
  text,
  type ObjectShape,
  type Shape,
  type ShapeOf,
} from './shapes.ts';

const texts = list(text);
const accessWord = oneOf(['yes', 'no', 'applied']);
const mode = oneOf(['graceful', 'now']);
const unit = oneOf(BUDGET_UNITS);
const runtime = oneOf(RUNTIMES);
const moment = oneOf(Object.keys(HOOK_MOMENTS) as HookMoment[]);
const trusted = custom<string | true>(
  'a text, or true',
  (value) => value === true || typeof value === 'string',
);
const json = custom<Json>('a value', (value) => value !== undefined);
const jsonMap = custom<Record<string, Json>>('a map', isMap);
const textMap = custom<Record<string, string>>('a map', isMap);
const answer = { answer: nullable(text), chosen: opt(texts) };
const question = {
  text,
  default: nullable(text),
  choices: opt(list(object({ label: text, about: opt(text) }))),
  several: opt(literal(true)),
  freeText: opt(literal(true)),
  tool: opt(literal(true)),
  produced: opt(list(object({ task: text, label: opt(text), text }))),
};

const ref = object({ hash: text, bytes: count });
const session = object({ id: text, fork: flag });
const builtOn = list(object({ name: text, version: count, task: text }));
const tokens = object({ input: count, output: count, cacheRead: count, cacheWrite: count });
const change = { path: text, change: oneOf(['added', 'modified', 'deleted']) };
const conflict = object({ files: texts, with: texts });
const mark = { account: text, unit, spent: count, limit: count, next: opt(count) };
const error = object({
  kind: oneOf([
    'auth', 'rate-limit', 'overloaded', 'bad-request', 'context-full', 'network', 'timeout', 'budget', 'refused',
    'crashed',
  ]),
  message: text,
  status: opt(count),
}); // prettier-ignore

const reason = oneOf([
  'exit', 'agent', 'timeout', 'limit', 'check', 'output', 'conflict', 'rejected', 'expression', 'setup', 'collect',
  'start', 'expand', 'budget', 'judge', 'tasks', 'vetoed',
]); // prettier-ignore

const outcomes = [
  object({ kind: literal('done') }),
  object({ kind: literal('failed'), reason, message: text, exitCode: opt(count), signal: opt(text) }),
  object({ kind: literal('cancelled') }),
  object({ kind: literal('lost'), because: opt(text) }),
] as const;
const skipped = object({
  kind: literal('skipped'),
  because: oneOf(['condition', 'need', 'stopped']),
  message: text,
});

const collected = object({
  commit: text,
  changed: list(object(change)),
  changedCount: count,
  refused: texts,
  outside: opt(object({ snapshot: text, files: list(object({ ...change, why: text })), count })),
  artifacts: texts,
});

const agentEvent = byKind([
  object({ kind: literal('started'), session: opt(text), model: opt(text), forgets: opt(literal(true)) }),
  object({ kind: literal('text'), text }),
  object({ kind: literal('tool-call'), id: text, name: text, input: text }),
  object({ kind: literal('tool-result'), id: text, isError: flag, text }),
  object({ kind: literal('file-changed'), path: text }),
  object({ kind: literal('asked'), id: text, text, answer: nullable(text) }),
  object({ kind: literal('usage'), tokens, usd: opt(count) }),
  object({ kind: literal('error'), error }),
  object({ kind: literal('finished'), turns: count, toolCalls: count }),
]);

const waitFor = byKind([
  object({ kind: literal('message'), task: opt(text), agent: opt(text) }),
  object({ kind: literal('end'), task: text }),
  object({ kind: literal('publication'), publisher: text, name: text, version: count }),
  object({ kind: literal('service'), name: text }),
]);

const of = { task: text, attempt: count };

function event<T extends EventType, const F extends Record<string, Shape<unknown>>>(
  type: T,
  fields: F,
): ObjectShape<{ type: Shape<T> } & F> {
  return object({ type: literal(type), ...fields });
}

/** Made when they are asked for: a journal has few of them, and to make all takes a while. */
export const EVENT_SCHEMAS = {
  'run.created': () =>
    event('run.created', {
      id: text,
      workflow: custom<Workflow>('a map', isMap),
      source: text,
      inputs: jsonMap,
      base: text,
      dirty: flag,
      overBudget: opt(literal('warn')),
      queued: opt(object({ by: text, trusted: opt(trusted), sealed: opt(text) })),
      parent: opt(object({ run: text, task: text })),
    }),
  'run.isolation': () =>
    event('run.isolation', {
      kind: oneOf(['fences', 'macos', 'namespaces', 'none']),
      uid: opt(count),
      limits: opt(
        object({
          memory: oneOf(['cgroup', 'watchdog']),
          processes: oneOf(['cgroup', 'prlimit']),
          cpu: oneOf(['cgroup', 'watchdog']),
          disk: literal('watchdog'),
          'open files': literal('prlimit'),
        }),
      ),
      lacks: opt(text),
      notes: texts,
    }),
  'run.resumed': () => event('run.resumed', { by: text }),
  'run.cancelling': () => event('run.cancelling', { mode, by: text }),
  'task.cancelling': () => event('task.cancelling', { task: text, by: text }),
  'task.retried': () => event('task.retried', { task: text, by: text, feedback: opt(text) }),
  'run.paused': () => event('run.paused', { by: text }),
  'task.paused': () => event('task.paused', { task: text, by: text }),
  'run.unpaused': () => event('run.unpaused', { by: text }),
  'task.unpaused': () => event('task.unpaused', { task: text, by: text }),
  'run.landed': () =>
    event('run.landed', {
      kind: oneOf(['fast-forward', 'merged', 'squashed']),
      from: text,
      to: text,
      branch: opt(text),
      head: text,
      by: text,
    }),
  'run.unlanded': () => event('run.unlanded', { from: text, to: text, branch: opt(text), by: text }),
  'timer.fired': () => event('timer.fired', of),
  'question.answered': () => event('question.answered', { id: text, ...answer, by: text, note: opt(text) }),
  'child.requested': () =>
    event('child.requested', {
      ...of,
      id: text,
      name: text,
      child: custom<Task>('a map', isMap),
      by: opt(text),
      key: opt(text),
    }),
  'child.cancelling': () => event('child.cancelling', { task: text, by: text }),
  'access.requested': () =>
    event('access.requested', { ...of, id: text, globs: texts, patch: opt(text), patchRef: opt(ref) }),
  'access.said': () => event('access.said', { ...of, id: text, owner: text, answer: accessWord }),
  'access.unanswered': () => event('access.unanswered', { ...of, id: text }),
  'attempt.workspace': () => event('attempt.workspace', { ...of, workspace: text, base: text }),
  'attempt.output': () =>
    event('attempt.output', {
      ...of,
      stream: oneOf(['stdout', 'stderr', 'check', 'setup']),
      text: opt(text),
      base64: opt(text),
      droppedBytes: opt(count),
      dropped: opt(literal('run')),
    }),
  'attempt.hooked': () =>
    event('attempt.hooked', { ...of, hook: text, veto: opt(text), env: opt(texts), prompt: opt(text) }),
  'hook.failed': () =>
    event('hook.failed', { hook: text, moment, about: opt(text), why: text, seq: opt(count) }),
  'hooks.armed': () =>
    event('hooks.armed', { webhooks: list(object({ hook: text, on: list(moment) })), sealed: opt(text) }),
  'hook.told': () => event('hook.told', { hook: text, moment, seq: count }),
  'attempt.agent': () => event('attempt.agent', { ...of, event: agentEvent }),
  'attempt.progress': () => event('attempt.progress', { ...of, text, percent: opt(count) }),
  'model.used': () =>
    event('model.used', {
      ...of,
      note: opt(text),
      provider: text,
      model: text,
      tokens,
      usd: nullable(count),
      ownLogin: opt(literal(true)),
      replayed: opt(literal(true)),
      estimated: opt(literal(true)),
    }),
  'clock.jumped': () => event('clock.jumped', { ms: count }),
  'model.waiting': () =>
    event('model.waiting', { provider: text, delayMs: count, why: text, tasks: opt(texts) }),
  'attempt.asked': () =>
    event('attempt.asked', {
      ...of,
      id: text,
      ...question,
      timeoutMs: opt(count),
      budget: opt(object({ ...mark, raiseTo: count, isHard: flag })),
    }),
  'attempt.held': () =>
    event('attempt.held', {
      ...of,
      by: oneOf(['question', 'budget', 'provider', 'turn', 'slot', 'pause', 'hook']),
      text,
      provider: opt(text),
    }),
  'run.noted': () => event('run.noted', { text }),
  'attempt.released': () => event('attempt.released', of),
  'budget.warned': () => event('budget.warned', mark),
  'budget.set': () =>
    event('budget.set', {
      account: text,
      limits: object({ usd: opt(count), tokens: opt(count), requests: opt(count), minutes: opt(count) }),
      by: text,
    }),
  'task.steered': () => event('task.steered', { task: text, text, by: text }),
  'attempt.steered': () => event('attempt.steered', { ...of, steers: list(count) }),
  'attempt.gave': () => event('attempt.gave', { ...of, output: opt(json), outputRef: opt(ref) }),
  'message.sent': () =>
    event('message.sent', {
      ...of,
      id: text,
      to: text,
      body: opt(json),
      bodyRef: opt(ref),
      urgent: opt(literal(true)),
      publication: opt(object({ name: text, version: count })),
    }),
  'message.read': () =>
    event('message.read', {
      ...of,
      ids: texts,
      acknowledged: opt(texts),
      steered: opt(literal(true)),
    }),
  'wait.began': () => event('wait.began', { ...of, id: text, for: waitFor, timeoutMs: count }),
  'wait.expired': () => event('wait.expired', { ...of, id: text }),
  'wait.left': () => event('wait.left', { ...of, id: text }),
  'publication.made': () =>
    event('publication.made', {
      ...of,
      name: text,
      version: count,
      value: opt(json),
      valueRef: opt(ref),
      commit: opt(text),
      changedCount: count,
    }),
  'service.announced': () => event('service.announced', { ...of, name: text, port: count }),
  'service.gone': () => event('service.gone', { ...of, name: text, why: text }),
  'attempt.denied': () => event('attempt.denied', { ...of, host: text, port: count, why: text }),
  'attempt.finished': () =>
    event('attempt.finished', {
      ...of,
      outcome: byKind(outcomes),
      durationMs: count,
      collected: opt(collected),
      output: opt(json),
      outputRef: opt(ref),
      feedback: opt(text),
      error: opt(error),
      expansion: opt(custom<Tasks>('a map', isMap)),
      score: opt(count),
      story: opt(text),
      storyRef: opt(ref),
    }),
  'task.merged': () =>
    event('task.merged', {
      ...of,
      commit: opt(text),
      shadow: text,
      result: text,
      conflict: opt(object({ ...conflict.fields, resolved: text })),
    }),
  'task.conflicted': () => event('task.conflicted', { ...of, conflict, marked: text }),
  'attempt.started': () =>
    event('attempt.started', {
      ...of,
      purpose: oneOf(['work', 'resolve']),
      from: texts,
      publications: opt(builtOn),
      continues: opt(count),
      prompt: text,
      promptRef: opt(ref),
      feedback: opt(text),
      recap: opt(text),
      env: opt(textMap),
      envRef: opt(ref),
      artifacts: opt(texts),
      files: opt(
        list(
          object({
            name: text,
            diff: opt(object({ from: text, to: text })),
            text: opt(text),
            textRef: opt(ref),
          }),
        ),
      ),
      session: opt(session),
      fallback: opt(object({ runtime, model: opt(text), because: text })),
    }),
  'attempt.stopping': () => event('attempt.stopping', { ...of, mode }),
  'attempt.pausing': () =>
    event('attempt.pausing', { ...of, how: oneOf(['stop', 'hold', 'finish']), because: text }),
  'run.reopened': () =>
    event('run.reopened', {
      tasks: list(
        object({
          task: text,
          onTop: opt(literal(true)),
          continues: opt(count),
          session: opt(session),
          feedback: opt(text),
        }),
      ),
      because: text,
    }),
  'tasks.ready': () => event('tasks.ready', { tasks: texts }),
  'task.admitted': () => event('task.admitted', { task: text }),
  'task.again': () =>
    event('task.again', {
      ...of,
      why: oneOf(['lost', 'paused', 'feedback', 'fallback', 'conflict', 'replan', 'context']),
      because: text,
      place: oneOf(['first', 'last']),
      delayMs: opt(count),
      continues: opt(count),
      feedback: opt(text),
      session: opt(session),
      fallback: opt(object({ runtime, model: opt(text) })),
      cancels: opt(texts),
    }),
  'task.delayed': () =>
    event('task.delayed', {
      ...of,
      delayMs: count,
      because: text,
      session: opt(session),
      cancels: opt(texts),
    }),
  'task.expanded': () =>
    event('task.expanded', {
      task: text,
      kind: oneOf(['for-each', 'uses', 'expand', 'handoff', 'race', 'continuous']),
      items: opt(list(json)),
      candidates: opt(texts),
      inputs: opt(jsonMap),
    }),
  'task.handed': () =>
    event('task.handed', {
      task: text,
      at: count,
      agent: text,
      rejected: opt(object({ by: text, reasons: text })),
    }),
  'task.judging': () => event('task.judging', { task: text }),
  'task.picked': () => event('task.picked', { task: text, candidate: text, because: text }),
  'task.summarizing': () =>
    event('task.summarizing', {
      task: text,
      agent: text,
      texts: list(object({ hash: text, what: text, by: text, text: opt(text), textRef: opt(ref) })),
    }),
  'task.round': () => event('task.round', { task: text, why: oneOf(['first', 'every', 'on', 'final']) }),
  'task.resting': () => event('task.resting', { task: text, delayMs: opt(count) }),
  'child.added': () =>
    event('child.added', { task: text, id: text, child: text, from: texts, publications: opt(builtOn) }),
  'child.refused': () => event('child.refused', { task: text, id: text, why: text }),
  'task.awaiting': () =>
    event('task.awaiting', {
      task: text,
      outcome: byKind([...outcomes, skipped]),
      output: opt(json),
      outputRef: opt(ref),
      cancels: opt(texts),
    }),
  'task.merging': () => event('task.merging', { ...of, commit: text }),
  'merge.deferred': () => event('merge.deferred', { ...of, until: texts }),
  'access.asked': () =>
    event('access.asked', { ...of, id: text, globs: texts, owners: texts, timeoutMs: count }),
  'access.answered': () =>
    event('access.answered', {
      ...of,
      id: text,
      globs: texts,
      answer: accessWord,
      by: text,
      why: text,
    }),
  'attempt.answered': () =>
    event('attempt.answered', {
      ...of,
      id: text,
      ...answer,
      by: text,
      note: opt(text),
      limit: opt(count),
      stops: opt(object(mark)),
    }),
  'message.delivered': () =>
    event('message.delivered', { ...of, id: text, to: texts, full: opt(texts), keptBy: opt(text) }),
  'wait.ended': () =>
    event('wait.ended', { ...of, id: text, why: oneOf(['met', 'expired', 'ended', 'cancelled']), text }),
  'wait.circled': () => event('wait.circled', { waits: list(object({ ...of, id: text })), text }),
  'message.refused': () =>
    event('message.refused', {
      ...of,
      id: text,
      why: oneOf(['unknown', 'self', 'ended', 'nobody', 'full', 'cancelled']),
      text,
    }),
  'question.asked': () =>
    event('question.asked', {
      id: text,
      task: text,
      ...question,
      timeoutMs: opt(count),
      globs: opt(texts),
      owners: opt(texts),
      diff: opt(text),
    }),
  'task.finished': () =>
    event('task.finished', {
      task: text,
      outcome: byKind([...outcomes, skipped]),
      output: opt(json),
      outputRef: opt(ref),
      halts: opt(texts),
    }),
  'run.finished': () =>
    event('run.finished', {
      state: oneOf(['done', 'failed', 'cancelled']),
      because: opt(literal('budget')),
    }),
} satisfies { [T in EventType]: () => Shape<EventOf<T>> };

/** The other way round: what the types allow, the schemas accept, field by field. One that differs is an error here. */
type Input<T extends EventType> = ShapeOf<ReturnType<(typeof EVENT_SCHEMAS)[T]>>;
type Differing = {
  [T in EventType]: EventOf<T> extends Input<T>
    ? [keyof EventOf<T>] extends [keyof Input<T>]
      ? never
      : T
    : T;
}[EventType];
true satisfies [Differing] extends [never] ? true : Differing;
