/**
 * What trust is kept for: the git directory that the work trees of a repository share, but only where that directory
 * says so, too. What `.git` says is the word of whoever made the work tree, so that it could borrow another one's trust.
 */
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { userName } from './owned.ts';
import { realPath } from './real-path.ts';
import { findGit, POINTER_BYTES_MAX } from './state-directory.ts';

export interface TrustedPlace {
  /** The shared git directory where it is this work tree's own; else the top of the work tree. */
  directory: string;
  isGitDirectory: boolean;
  /** Why nobody's trust counts here. */
  problem?: string;
}

/** Undefined outside of any repository. */
export function trustedPlace(cwd: string): TrustedPlace | undefined {
  const found = findGit(cwd);
  if (found === undefined) return undefined;
  const top = realpathSync(found.top);
  const dotGit = path.join(top, '.git');
  const commonDir = realPath(found.commonDir);
  const isGitDirectory = lstatSync(dotGit).isDirectory()
    ? commonDir === dotGit
    : isLinked(dotGit, found.gitDir, commonDir);
  const directory = isGitDirectory ? commonDir : top;
  const problem = [top, dotGit, directory].map(whoseElse).find((why) => why !== undefined);
  return { directory, isGitDirectory, ...(problem !== undefined && { problem }) };
}

function whoseElse(file: string): string | undefined {
  const uid = process.geteuid?.();
  const owner = lstatSync(file).uid;
  if (uid === undefined || owner === uid) return undefined;
  return `${file} belongs to ${userName(owner)}, and bosun runs as ${userName(uid)}`;
}

/** A linked work tree: the shared directory knows it, and where it is. */
function isLinked(dotGit: string, gitDir: string, commonDir: string): boolean {
  if (!lstatSync(dotGit).isFile() || !existsSync(gitDir)) return false;
  const own = realpathSync(gitDir);
  if (path.dirname(own) !== path.join(commonDir, 'worktrees')) return false;
  const back = path.join(own, 'gitdir');
  const stat = lstatSync(back, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > POINTER_BYTES_MAX) return false;
  const target = path.resolve(own, readFileSync(back, 'utf8').trimEnd());
  return path.basename(target) === '.git' && existsSync(target) && realpathSync(target) === dotGit;
}
