/**
 * Where bosun keeps its state: in the git directory of the repository it stands in, where no clone, checkout, merge or
 * agent can put anything. Found without starting git, for even the quickest commands need it.
 */
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { assertOurs } from './owned.ts';
import { assertOwnState } from './own-state.ts';
import { makeSandboxElsewhere, sandboxElsewhere } from './sandbox-elsewhere.ts';

/** A work tree, and the git directory that it shares with the work trees linked to it. */
export interface GitPlace {
  top: string;
  commonDir: string;
}

/** What git allows in these one-line files is a path. */
export const POINTER_BYTES_MAX = 8192;

export function stateDirectory(commonDir: string): string {
  return path.join(commonDir, 'bosun');
}

/** Of the state, all that sandboxes are made of or may reach: agents of a root engine are another user. */
export function sandboxDirectory(state: string): string {
  return sandboxElsewhere(state) ?? path.join(state, 'sandbox');
}

/** The repository that a directory is in: the nearest one, never one above that. */
export function findGit(from: string): (GitPlace & { gitDir: string }) | undefined {
  for (let at = path.resolve(from); ; at = path.dirname(at)) {
    const gitDir = gitDirOf(at);
    if (gitDir !== undefined) return { top: at, gitDir, commonDir: commonDirOf(gitDir) };
    if (path.basename(at) !== '.git' && isGitDir(at)) return undefined; // a bare one has no work tree
    if (at === path.dirname(at)) return undefined;
  }
}

function gitDirOf(top: string): string | undefined {
  const dotGit = path.join(top, '.git');
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return isGitDir(dotGit) ? dotGit : undefined;
  if (!stat?.isFile()) return undefined;
  const target = /^gitdir: (.+)$/s.exec(readPointer(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : path.resolve(top, target);
}

/** Linked work trees say in a file where the directory is that all of them share. */
function commonDirOf(gitDir: string): string {
  const target = readPointer(path.join(gitDir, 'commondir'));
  return target === undefined ? gitDir : path.resolve(gitDir, target);
}

function isGitDir(directory: string): boolean {
  const is = (name: string, kind: 'isFile' | 'isDirectory'): boolean =>
    statSync(path.join(directory, name), { throwIfNoEntry: false })?.[kind]() ?? false;
  return is('HEAD', 'isFile') && is('objects', 'isDirectory') && is('refs', 'isDirectory');
}

function readPointer(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > POINTER_BYTES_MAX) return undefined;
  return readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
}

const PRIVATE = 0o700;
const OTHERS = 0o077;
const PASSAGE = 0o755;

/** Makes it, the user's alone. One that is a link, or somebody else's, is not ours to write in. */
export function makeStateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: PRIVATE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stat = lstatSync(directory);
  if (!stat.isDirectory())
    throw new BosunError(
      'system',
      `${directory} must be a directory, where bosun keeps its work, but is ${stat.isSymbolicLink() ? 'a symbolic link' : 'something else'}: move it away`,
    );
  assertOurs(directory);
  assertOwnState(directory);
  if ((stat.mode & OTHERS) !== 0) chmodSync(directory, PRIVATE);
  const elsewhere = sandboxElsewhere(directory);
  if (elsewhere !== undefined) makeSandboxElsewhere(elsewhere, directory);
  mkdirSync(sandboxDirectory(directory), { recursive: true });
  chmodSync(sandboxDirectory(directory), PASSAGE); // whatever the umask
}
