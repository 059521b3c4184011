/** Schemas of what operations give that are about serving: repositories, tokens. */
import { z } from 'zod';
import { EXECUTION_STATES } from './execution-states.ts';
import { ROLES } from './role.ts';
import { ShownRun } from './run-schema.ts';
import { count, flag, json, opt, runtime, text, texts } from './schema-parts.ts';

export const ServedRepository = z.strictObject({
  /** As addresses have it. */
  name: text,
  directory: text,
  addedAtMs: count,
});
export type ServedRepository = z.output<typeof ServedRepository>;
export const ServedRepositories = z.array(ServedRepository);

/** `id` is the repository and the run. */
export const ServedRun = z.strictObject({ id: text, repositoryId: text, run: ShownRun });
export type ServedRun = z.output<typeof ServedRun>;
export const ServedRuns = z.array(ServedRun);

/** Without the token itself, which nobody knows but who was given it. */
export const AccessToken = z.strictObject({
  name: text,
  role: z.enum(ROLES),
  createdAtMs: count,
  expiresAtMs: opt(count),
});
export type TokenView = z.output<typeof AccessToken>;
export const AccessTokens = z.array(AccessToken);
/** `token` is shown this once. */
export const NewToken = AccessToken.extend({ token: text });

/** Who does work items: an agent that is set up once, and given work by its id. */
export const Worker = z.strictObject({
  id: text,
  name: text,
  runtime: opt(runtime),
  model: opt(text),
  command: opt(text),
  /** Somebody took it out of service. */
  offline: opt(flag),
});
export type Worker = z.output<typeof Worker>;
export const ShownWorker = Worker.extend({ status: z.enum(['idle', 'busy', 'offline']) });
export type ShownWorker = z.output<typeof ShownWorker>;
export const Workers = z.array(ShownWorker);

/** How work is asked for: what a worker is told before the item itself. */
export const Template = z.strictObject({ id: text, name: text, prompt: text, check: opt(text) });
export type Template = z.output<typeof Template>;
export const Templates = z.array(Template);

export const WorkItem = z.strictObject({ id: text, title: text, text });
export type WorkItem = z.output<typeof WorkItem>;
export const WorkItems = z.array(WorkItem);

const executionFacts = {
  /** The repository and the run. */
  id: text,
  repositoryId: text,
  run: text,
  workerId: text,
  workItemId: text,
  templateId: text,
  workspaceId: text,
  status: z.enum(EXECUTION_STATES),
  createdAtMs: count,
  completedAtMs: opt(count),
};
/** In a list, without its output. */
export const ExecutionFacts = z.strictObject(executionFacts);
export type ExecutionFacts = z.output<typeof ExecutionFacts>;
export const Executions = z.array(ExecutionFacts);

export const Execution = z.strictObject({
  ...executionFacts,
  errorMessage: opt(text),
  output: opt(
    z.strictObject({
      /** As a patch; `isCut` where it is longer than what is shown. */
      diff: text,
      isCut: flag,
      logs: texts,
      artifacts: texts,
      /** What the agent gave. */
      result: opt(json),
      metrics: z.strictObject({ tokens: count, costUsd: count, toolCalls: count, durationMs: count }),
    }),
  ),
});
export type Execution = z.output<typeof Execution>;

export const ExecutionWorkspace = z.strictObject({
  /** That of its execution. */
  id: text,
  repositoryId: text,
  workerId: text,
  workItemId: text,
  branch: text,
  status: z.enum(['active', 'completed', 'error', 'cleaning']),
  createdAtMs: count,
  completedAtMs: opt(count),
});
export type ExecutionWorkspace = z.output<typeof ExecutionWorkspace>;
export const ExecutionWorkspaces = z.array(ExecutionWorkspace);
