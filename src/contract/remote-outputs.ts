/** What operations on remotes and on the user's own repository give, as schemas: a part of `outputs.ts`. */
import { z } from 'zod';
import { count, flag, opt, text } from './schema-parts.ts';

const pushKind = z.enum(['created', 'updated', 'nothing']);

/** A run's work on a remote. */
export const Pushed = z.strictObject({
  run: text,
  /** Its name, or its address where it has none here. */
  remote: text,
  branch: text,
  commit: text,
  kind: pushKind,
  /** Where a pull request can be made of it, where the host is known. */
  link: opt(text),
});
export type Pushed = z.output<typeof Pushed>;

export const PullRequest = z.strictObject({
  run: text,
  branch: text,
  commit: text,
  /** A link: a person has to make it there. */
  kind: z.enum(['opened', 'updated', 'link']),
  url: text,
  /** Why it is a link. */
  note: opt(text),
});
export type PullRequest = z.output<typeof PullRequest>;

export const PushedBranch = Pushed.omit({ run: true, link: true });
export type PushedBranch = z.output<typeof PushedBranch>;

export const Cloned = z.strictObject({
  directory: text,
  url: text,
  /** Absent where the repository is empty, or a tag was named. */
  branch: opt(text),
  head: opt(text),
});
export type Cloned = z.output<typeof Cloned>;

export const Fetched = z.strictObject({
  remote: text,
  /** Those that are new or have moved. */
  branches: z.array(z.strictObject({ name: text, commit: text, was: opt(text) })),
});
export type Fetched = z.output<typeof Fetched>;

/** Without a name on a detached HEAD. */
export const Branch = z.strictObject({ name: opt(text), head: text, made: flag });
export type Branch = z.output<typeof Branch>;

/** Null where there was nothing to commit. */
export const Committed = z.nullable(
  z.strictObject({ commit: text, branch: opt(text), files: z.int().nonnegative() }),
);
export type Committed = z.output<typeof Committed>;

export const GitStatus = z.strictObject({
  branch: opt(text),
  head: text,
  /** Of the branch, as it was when it was last fetched. */
  upstream: opt(z.strictObject({ name: text, ahead: count, behind: count })),
  /** As git writes it: a letter for the index and one for the file, `??` for a file that git does not track. */
  files: z.array(z.strictObject({ path: text, state: text })),
});
export type GitStatus = z.output<typeof GitStatus>;
