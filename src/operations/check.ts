/** Checking a workflow file: what is wrong with it, and what it says. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { WORKFLOW_FILES } from '../base/settings-path.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Workflow } from '../contract/workflow.ts';
import { usersConfig } from '../definition/config.ts';
import { isModule, loadWorkflow } from '../definition/load.ts';
import { examine, type Examined } from '../definition/examine.ts';
import { hasGlobs } from '../definition/check/warn-about-globs.ts';
import { repositoryConfig } from '../store/home.ts';
import { listCommitted } from '../system/git/repository.ts';
import { checkCode, notTrusted } from './trust.ts';

export interface Checked extends Omit<Examined, 'globWarnings'> {
  /** The path as a person would write it, from where they are. */
  file: string;
  workflow: Workflow;
  warnings: string[];
  /** What the repository's configuration says in vain; a run says it too. */
  ignored: string[];
  /** Of what it asks for, that which nobody has agreed to yet. */
  fresh: string[];
}

/** Throws one error with all that is wrong, each with its place. */
export async function checkFile(options: Reading<'check'>): Promise<Checked> {
  const { cwd } = options;
  const top = topOf(cwd);
  const full = options.file === undefined ? requireFile(cwd, top) : path.resolve(cwd, options.file);
  if (options.file !== undefined) requireNamed(cwd, options.file);
  const file = path.relative(cwd, full);
  // Messages name the file as it was asked for; a caller in another directory still has to find it.
  const named = path.resolve(file) === full ? file : full;
  if (isModule(full)) checkCode({ ...options, file: full, source: file, top });
  const repository = top === undefined ? {} : { repository: top };
  const { users, ignored } = usersConfig(top === undefined ? undefined : repositoryConfig(top));
  const loaded = await loadWorkflow(named, { ...repository, users });
  const { workflow, warnings, isLarge } = loaded;
  const question = { workflow, top: top ?? cwd, listing: await listingFor(workflow, top) };
  const { globWarnings, ...examined } = await examine(question, file, isLarge);
  const all = [...warnings, ...globWarnings.map((warning) => `${file}: ${warning}`)];
  const fresh = freshAmong(cwd, examined.asks, { source: file, workflow });
  return { file, workflow, warnings: all, ignored, fresh, ...examined };
}

/** Only a repository that has a commit can say which globs match nothing. */
async function listingFor(workflow: Workflow, top: string | undefined): Promise<Buffer | undefined> {
  if (top === undefined || !hasGlobs(workflow)) return undefined;
  // What git has to say is no matter of a check: a run says it.
  return listCommitted(top).catch(() => undefined);
}

/** Who leaves out how the name of a file ends has another one in mind. */
function requireNamed(cwd: string, file: string): void {
  if (existsSync(path.resolve(cwd, file))) return;
  const meant = ['.yaml', '.yml', '.json', '.ts']
    .map((end) => `${file}${end}`)
    .find((name) => existsSync(path.resolve(cwd, name)));
  if (meant === undefined) return;
  throw new BosunError('usage', `cannot read ${file}: there is no such file; did you mean ${meant}?`);
}

function requireFile(cwd: string, top: string | undefined): string {
  const found = findFile(cwd, top);
  if (found !== undefined) return found;
  const where = top === undefined || path.resolve(cwd) === top ? cwd : `${cwd} or above`;
  const code = CODE_FILES.find((name) => existsSync(path.join(cwd, name)));
  const way =
    code === undefined
      ? '; write one with: bosun init, or name a file'
      : `; ${code} is there, but code only runs if you name it`;
  throw new BosunError('usage', `there is no ${WORKFLOW_FILES.join(', ')} in ${where}${way}`);
}

/** Code that runs when it is loaded is never taken without its name. */
const CODE_FILES = ['bosun.ts', 'bosun.mts', 'bosun.js', 'bosun.mjs'];

/** In this directory, or in one above it within the repository. */
export function findFile(cwd: string, top = topOf(cwd)): string | undefined {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    const found = WORKFLOW_FILES.map((name) => path.join(at, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    if (top === undefined || at === top || at === path.dirname(at)) return undefined;
  }
}

/** The top of the repository, found without starting git: a check needs no repository. */
export function topOf(cwd: string): string | undefined {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** Where what was agreed to cannot be read, nothing was: whoever gives their own word may go on. */
function freshAmong(cwd: string, asks: string[], from: { source: string; workflow: Workflow }): string[] {
  try {
    return notTrusted(cwd, asks, { from });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return asks;
    throw error;
  }
}
