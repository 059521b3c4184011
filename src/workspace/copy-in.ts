/** Brings untracked files of the user's work tree (`workspace.copy`) into a directory that workspaces share. */
import { createHash, type Hash } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import picomatch from 'picomatch';
import { BosunError } from '../contract/errors.ts';
import { splitNul, userGit } from '../system/git.ts';
import { capture } from '../system/process.ts';

const NEVER = new Set(['.git', '.bosun']);
const MATCHES_MAX = 10_000;
const ENTRIES_MAX = 2_000_000;

/** Paths below `top` that the globs name; a directory stands for all that is in it. */
export async function matchCopy(top: string, globs: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const glob of globs) {
    const pattern = path.posix.normalize(glob).replace(/\/+$/, '');
    if (path.isAbsolute(pattern) || pattern.split('/').includes('..')) {
      throw new BosunError(
        'invalid-workflow',
        `workspace.copy names ${glob}, which lies outside the repository: name paths inside it`,
      );
    }
    const { isGlob } = picomatch.scan(pattern);
    if (isGlob) await walk(top, '', picomatch(pattern, { dot: true }), found);
    else if (await exists(path.join(top, pattern))) found.add(pattern);
    else
      throw new BosunError(
        'system',
        `workspace.copy names ${glob}, but ${top} has no such file: make it, or take it out of the workflow`,
      );
  }
  return [...found].filter((name) => !NEVER.has(name.split('/')[0]!)).sort();
}

async function walk(
  top: string,
  at: string,
  isMatch: (name: string) => boolean,
  found: Set<string>,
): Promise<void> {
  for (const entry of await readdir(path.join(top, at), { withFileTypes: true })) {
    const name = at === '' ? entry.name : `${at}/${entry.name}`;
    if (NEVER.has(entry.name)) continue;
    if (isMatch(name)) found.add(name);
    else if (entry.isDirectory()) await walk(top, name, isMatch, found);
    if (found.size > MATCHES_MAX)
      throw new BosunError(
        'system',
        `workspace.copy matches more than ${MATCHES_MAX} paths: name their directory instead`,
      );
  }
}

/** Changes whenever a file below the matches does; cheaper by far than copying them. */
export async function fingerprint(top: string, matches: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const budget = { left: ENTRIES_MAX };
  for (const match of matches) await digest(path.join(top, match), match, hash, budget);
  return hash.digest('hex').slice(0, 16);
}

async function digest(file: string, name: string, hash: Hash, budget: { left: number }): Promise<void> {
  if ((budget.left -= 1) < 0)
    throw new BosunError('system', `workspace.copy brings more than ${ENTRIES_MAX} files: name less`);
  const stat = await lstat(file, { bigint: true });
  hash.update(`${name}\0${stat.mode}\0${stat.isDirectory() ? '' : `${stat.size}\0${stat.mtimeNs}`}\n`);
  if (!stat.isDirectory()) return;
  for (const entry of (await readdir(file)).sort())
    await digest(path.join(file, entry), `${name}/${entry}`, hash, budget);
}

/** Links stay links, owners become ours; blocks are shared where the file system can. */
export async function copyIn(top: string, matches: readonly string[], target: string): Promise<void> {
  if (matches.length === 0) return;
  const names = matches.map((match) => `./${match}`);
  const copied = await capture(
    [
      'cp',
      '--recursive',
      '--no-dereference',
      '--preserve=mode,timestamps,links',
      '--reflink=auto',
      '--parents',
      '--target-directory',
      target,
      '--',
      ...names,
    ],
    { cwd: top },
  );
  if (copied.code !== 0)
    throw new BosunError(
      'system',
      `cannot copy ${matches.join(', ')} from ${top}: ${copied.stderr.trim().slice(0, 1000)}`,
    );
  // what git tracks comes from the commit
  const tracked = await userGit(['--literal-pathspecs', 'ls-files', '-z', '--', ...names], { cwd: top });
  for (const name of splitNul(tracked.stdout))
    await rm(Buffer.concat([Buffer.from(`${target}/`), name]), { force: true });
}

function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
