/** Brings untracked files of the user's work tree (`workspace.copy`) into a directory that workspaces share. */
import { createHash, type Hash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ownerOf } from '../base/dot-git.ts';
import { normalizeGlob, parseGlob } from '../base/glob-syntax.ts';
import { compileGlobs, literalStarts, placesOf } from '../base/globs.ts';
import { BosunError } from '../contract/errors.ts';
import { enterBelow, lstatBelow, mkdirBelow, type OpenDirectory } from '../system/files/below.ts';
import { gitInRepository, splitNul } from '../system/git/git.ts';
import { capture } from '../system/process/process.ts';

const MATCHES_MAX = 10_000;
const ENTRIES_MAX = 2_000_000;
const ARGUMENT_BYTES_MAX = 100_000;

/** Paths below `top` that the globs name; a directory stands for all that is in it. No link leads on. */
export async function matchCopy(top: string, globs: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const glob of globs) {
    const normalized = normalizeGlob(glob);
    if ('problem' in normalized)
      throw new BosunError('invalid-workflow', `"${glob}" in "workspace.copy" ${normalized.problem}`);
    const parsed = parseGlob(glob);
    const [place, ...others] = placesOf(parsed);
    if (place!.kind === 'plain' && others.length === 0) {
      if (isThere(top, place!.path)) found.add(place!.path);
      else
        throw new BosunError(
          'system',
          `workspace.copy names ${glob}, but ${top} has no such file: make it, or take it out of the workflow`,
        );
      continue;
    }
    const search = { top, isMatch: compileGlobs([glob]), found, left: ENTRIES_MAX };
    for (const start of new Set(literalStarts(parsed).map((names) => names.join('/'))))
      await walk(search, start);
  }
  return [...found].filter((name) => ownerOf(name) === undefined).sort();
}

interface Search {
  top: string;
  isMatch: (name: string) => boolean;
  found: Set<string>;
  left: number;
}

async function walk(search: Search, at: string): Promise<void> {
  const { top, isMatch, found } = search;
  if ((search.left -= 1) < 0)
    throw new BosunError(
      'system',
      `workspace.copy looks through more than ${ENTRIES_MAX} files: name a directory`,
    );
  if (ownerOf(at) !== undefined) return;
  if (at !== '' && isMatch(at)) {
    if (isThere(top, at)) found.add(at);
    if (found.size > MATCHES_MAX)
      throw new BosunError(
        'system',
        `workspace.copy matches more than ${MATCHES_MAX} paths: name their directory instead`,
      );
    return;
  }
  if (at !== '' && !(isThere(top, at) && lstatBelow(top, at)!.isDirectory())) return;
  for (const entry of await readdir(path.join(top, at), { withFileTypes: true })) {
    const name = at === '' ? entry.name : `${at}/${entry.name}`;
    if (entry.isDirectory() || isMatch(name)) await walk(search, name);
  }
}

/** What a link on the way leads to is not in the repository. */
function isThere(top: string, file: string): boolean {
  try {
    return lstatBelow(top, file) !== undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return false;
    throw new BosunError('system', `workspace.copy cannot bring ${message}; name the files themselves`);
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

/**
 * Links stay links, owners become ours; blocks are shared where the file system can. Each match is copied from and to
 * an open directory, so that the way there is no link now, whatever it was before.
 */
export async function copyIn(top: string, matches: readonly string[], target: string): Promise<void> {
  if (matches.length === 0) return;
  for (const [directory, names] of byDirectory(matches)) {
    using from = enterBelow(top, directory);
    using to = makeLike(top, directory, target);
    for (const some of batches(names.map((name) => `./${name}`))) {
      const args = ['--recursive', '--no-dereference', '--preserve=mode,timestamps,links', '--reflink=auto'];
      const copied = await capture(['cp', ...args, '--target-directory', ofOtherProcess(to), '--', ...some], {
        cwd: ofOtherProcess(from),
      });
      if (copied.code !== 0)
        throw new BosunError(
          'system',
          `workspace.copy cannot bring all of ${path.join(top, directory)}: ${copied.stderr.trim().slice(0, 1000)}; put that right, or name less in "workspace.copy"`,
        );
    }
  }
  // what git tracks comes from the commit
  for (const some of batches(matches.map((match) => `./${match}`))) {
    const tracked = await gitInRepository(['--literal-pathspecs', 'ls-files', '-z', '--', ...some], {
      cwd: top,
    });
    for (const name of splitNul(tracked.stdout))
      await rm(Buffer.concat([Buffer.from(`${target}/`), name]), { force: true });
  }
}

/** As many at once as a command line takes anywhere. */
function batches(names: readonly string[]): string[][] {
  const all: string[][] = [];
  let left = 0;
  for (const name of names) {
    if ((left -= Buffer.byteLength(name) + 1) < 0) {
      all.push([]);
      left = ARGUMENT_BYTES_MAX;
    }
    all.at(-1)!.push(name);
  }
  return all;
}

function byDirectory(matches: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const match of matches) {
    const { dir, base } = path.posix.parse(match);
    const names = found.get(dir);
    if (names) names.push(base);
    else found.set(dir, [base]);
  }
  return found;
}

/** The directories down to it in `target`, with the modes that they have in `top`. */
function makeLike(top: string, directory: string, target: string): OpenDirectory {
  const made = mkdirBelow(target, directory, 0o755);
  for (let at = directory; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    using copy = enterBelow(target, at);
    chmodSync(copy.at(), (lstatBelow(top, at)?.mode ?? 0o755) & 0o777);
  }
  return made;
}

/** macOS has no path for a handle: there it is the directory's own. */
function ofOtherProcess({ fd, path: own }: OpenDirectory): string {
  return process.platform === 'linux' ? `/proc/${process.pid}/fd/${fd}` : own.toString();
}
