/** What merging gives: what would come of it, what came of it, and what is left when it was undone. */
import { z } from 'zod';
import { count, text } from './schema-parts.ts';

export const Merged = z.strictObject({
  run: text,
  kind: z.enum(['fast-forward', 'merged', 'squashed', 'nothing']),
  /** The user's HEAD afterwards. */
  head: text,
  /** The branch it is on; absent on a detached HEAD. */
  branch: z.optional(text),
  commits: count,
  /** What did not get done, of a run that failed or was cancelled: none of that is in it. */
  unfinished: z.exactOptional(text),
});
export type Merged = z.output<typeof Merged>;

export const MergePreview = z.strictObject({
  run: text,
  /** `conflict`: a merge would be refused. */
  kind: z.enum(['fast-forward', 'merged', 'squashed', 'nothing', 'conflict']),
  /** What the run has come to: its last commit. */
  head: text,
  /** The user's HEAD, and the branch it is on; absent on a detached HEAD. */
  onto: text,
  branch: z.exactOptional(text),
  /** The run's own, the oldest first; the first of them where there are many. */
  commits: z.array(z.strictObject({ commit: text, title: text })),
  commitCount: count,
  /** What changes in the branch; where there are conflicts, what the run changed. The numbers are null for a binary file. */
  files: z.array(z.strictObject({ path: text, added: z.nullable(count), deleted: z.nullable(count) })),
  /** With the lines that both changed, where git can mark them. */
  conflicts: z.array(z.strictObject({ path: text, text: z.exactOptional(text) })),
  /** Why nothing can land just now, and what to do. */
  blocked: z.exactOptional(text),
  /** The command of `merge.check`, which has to pass. */
  check: z.exactOptional(text),
  /** What did not get done, of a run that failed or was cancelled: none of that is in it. */
  unfinished: z.exactOptional(text),
});
export type MergePreview = z.output<typeof MergePreview>;

export const MergeUndone = z.strictObject({
  run: text,
  /** The user's HEAD, and where it was. */
  head: text,
  was: text,
  /** The branch it is on; absent on a detached HEAD. */
  branch: z.exactOptional(text),
});
export type MergeUndone = z.output<typeof MergeUndone>;
