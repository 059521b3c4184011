/** Whether anything of others may come into a repository by itself: a look at its git directory that starts no process. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const CONFIG_BYTES_MAX = 1024 * 1024;
/** What names a remote, or a file that may name one. */
const NAMES_REMOTE = /^\s*\[\s*(remote|include|includeif)\b/im;
/** Where git kept remotes once and still looks; and what it fetched from an address, without one. */
const TRACES = ['remotes', 'FETCH_HEAD'];

/** False where that cannot be told. */
export function standsAlone(gitDirectory: string): boolean {
  if (TRACES.some((name) => existsSync(path.join(gitDirectory, name)))) return false;
  return ['config', 'config.worktree'].every((name) => {
    const file = path.join(gitDirectory, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (!stat.isFile() || stat.size > CONFIG_BYTES_MAX) return false;
    return !NAMES_REMOTE.test(readFileSync(file, 'utf8'));
  });
}
