/** Checking a workflow file: what is wrong with it, what it says, and what a run would still refuse. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Workflow } from '../contract/workflow.ts';
import { ignoredIn } from '../definition/config.ts';
import { isModule, loadWorkflow } from '../definition/load.ts';
import { reachOf } from '../definition/reach.ts';
import { ownership, type Owner } from '../definition/ownership.ts';
import { unsupported } from '../definition/supported.ts';
import { hasGlobs, warnAboutGlobs } from '../definition/warn-about-globs.ts';
import { repositoryConfig } from '../home.ts';
import { committedFiles } from '../system/repository.ts';
import { checkCode, type TrustOptions } from './trust.ts';

export const FILE_NAMES = ['bosun.yaml', 'bosun.yml', 'bosun.json'] as const;

export interface Checked {
  /** The path as a person would write it, from where they are. */
  file: string;
  workflow: Workflow;
  warnings: string[];
  /** What is valid and cannot be run yet, one line each. */
  refused: string[];
  /** Which files belong to which tasks, as written; empty where no task declares a write scope. */
  owners: Owner[];
  /** What it asks for beyond the repository, a line each. */
  asks: string[];
  /** What the repository's configuration says in vain; a run says it too. */
  ignored: string[];
}

/** Throws one error with all that is wrong, each with its place. */
export async function checkFile(options: { cwd: string; file?: string } & TrustOptions): Promise<Checked> {
  const { cwd } = options;
  const top = topOf(cwd);
  const full = options.file === undefined ? findFile(cwd, top) : path.resolve(cwd, options.file);
  const file = path.relative(cwd, full);
  // Messages name the file as it was asked for; a caller in another directory still has to find it.
  const named = path.resolve(file) === full ? file : full;
  if (isModule(full)) checkCode({ ...options, file: full, source: file, top });
  const { workflow, warnings } = await loadWorkflow(named, top === undefined ? {} : { repository: top });
  const { owners } = ownership(workflow);
  const all = [...warnings, ...(await globWarnings(workflow, top, file))];
  const ignored = top === undefined ? [] : ignoredIn(repositoryConfig(top));
  return {
    file,
    workflow,
    warnings: all,
    refused: unsupported(workflow),
    owners,
    ignored,
    asks: reachOf(workflow, top ?? cwd),
  };
}

/** Only a repository that has a commit can say which globs match nothing. */
async function globWarnings(workflow: Workflow, top: string | undefined, file: string): Promise<string[]> {
  if (top === undefined || !hasGlobs(workflow)) return [];
  // What git has to say is no matter of a check: a run says it.
  const files = await committedFiles(top).catch(() => undefined);
  if (!files) return [];
  const isThere = (name: string): boolean => existsSync(path.join(top, name));
  return warnAboutGlobs(workflow, files, isThere).map((warning) => `${file}: ${warning}`);
}

/** In this directory, or in one above it within the repository. */
function findFile(cwd: string, top: string | undefined): string {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    const found = FILE_NAMES.map((name) => path.join(at, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    if (top === undefined || at === top || at === path.dirname(at)) break;
  }
  const where = top === undefined || path.resolve(cwd) === top ? cwd : `${cwd} or above`;
  throw new BosunError(
    'usage',
    `there is no ${FILE_NAMES.join(', ')} in ${where}; write one with: bosun init, or name a file`,
  );
}

/** The top of the repository, found without starting git: a check needs no repository. */
function topOf(cwd: string): string | undefined {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}
