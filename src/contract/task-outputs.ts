/** What the operations on one task give, as schemas: its attempts, and the files that they kept. */
import { z } from 'zod';
import { count, opt, runtime, text } from './schema-parts.ts';

/** `lost`: its engine ended before it did, and it counts for nothing. */
const ShownAttempt = z.strictObject({
  attempt: count,
  purpose: z.enum(['work', 'resolve']),
  startedAtMs: count,
  state: z.enum(['running', 'done', 'failed', 'cancelled', 'lost']),
  endedAtMs: opt(count),
  durationMs: opt(count),
  /** Why it failed. */
  reason: opt(text),
  message: opt(text),
  /** What the next one is told. */
  feedback: opt(text),
  /** What went wrong between the agent and its model. */
  error: opt(z.strictObject({ kind: text, message: text, status: opt(count) })),
  /** In place of the agent's own, which failed. */
  runtime: opt(runtime),
  /** What it left. */
  commit: opt(text),
  changedCount: opt(count),
  outsideCount: opt(count),
  artifactCount: opt(count),
});
export type ShownAttempt = z.output<typeof ShownAttempt>;
export const ShownAttempts = z.array(ShownAttempt);

/** Of one attempt, by the path that each had in its workspace. */
export const Artifacts = z.strictObject({
  task: text,
  attempt: count,
  files: z.array(z.strictObject({ path: text, bytes: count })),
});
export type Artifacts = z.output<typeof Artifacts>;

export const Artifact = z.strictObject({ task: text, attempt: count, path: text, bytes: count });
export type Artifact = z.output<typeof Artifact>;
