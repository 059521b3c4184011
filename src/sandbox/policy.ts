/**
 * Turns write globs into what the kernel can hold: the smallest directories that cover them, and what stays as it
 * is inside those. The exact globs are held when the work is collected. Pure but for the view of the workspace.
 */
import { parseGlob } from '../base/glob-syntax.ts';
import { placesOf } from '../base/globs.ts';
import { BosunError } from '../contract/errors.ts';
import type { Tree } from '../system/git/tree.ts';

export interface Writable {
  /** Directories that may be written, relative to the workspace; '' is all of it. Some may have to be made. */
  write: string[];
  /** Entries below those that stay read-only. */
  keep: string[];
}

/** Mounts cost time, and there are limits; past this many only directories stay read-only beside a writable file. */
const KEEP_MAX = 200;
/** Always the attempt's own: it is private, and never collected. */
const GIT = '.git';

export function writableParts(globs: readonly string[], tree: Tree): Writable {
  const deep = new Set<string>();
  const flat = new Set<string>();
  for (const { path, kind } of globs.flatMap((glob) => placesOf(parseGlob(glob)))) {
    if (kind === 'deep' || (kind === 'plain' && tree.kindOf(path) === 'directory')) deep.add(path);
    else flat.add(kind === 'flat' ? path : parentOf(path));
  }
  if (deep.has('')) return { write: [''], keep: [] };
  const outer = [...deep].filter((path) => !isBelowAny(path, deep));
  const write = new Set(outer);
  const keep: string[] = [];
  for (const directory of flat) {
    if (write.has(directory) || isBelowAny(directory, write)) continue;
    write.add(directory);
    keep.push(...neighbours(directory, globs, [...outer, ...flat], tree));
  }
  for (const path of write) checkWay(path, tree);
  if (!write.has('')) write.add(GIT);
  return { write: [...write].sort(), keep: keep.filter((path) => !write.has(path)).sort() };
}

/** The directories that have to be writable for some globs, whether or not there is anything yet. */
export function directoriesOf(globs: readonly string[], tree: Tree): string[] {
  return writableParts(globs, tree).write.filter((path) => path !== GIT);
}

/** What lies beside a file that may be changed. New entries there are caught when the work is collected. */
function neighbours(
  directory: string,
  globs: readonly string[],
  wanted: readonly string[],
  tree: Tree,
): string[] {
  const at = (name: string): string => (directory === '' ? name : `${directory}/${name}`);
  const leadsOn = (path: string): boolean =>
    wanted.some((other) => other === path || other.startsWith(`${path}/`));
  const entries = tree.list(directory).filter(({ name }) => name !== GIT && !leadsOn(at(name)));
  const directories = entries.filter(({ kind }) => kind === 'directory').map(({ name }) => at(name));
  const plain = new Set(globs.flatMap((glob) => placesOf(parseGlob(glob))).map(({ path }) => path));
  const hasPatterns = globs.some((glob) =>
    placesOf(parseGlob(glob)).some(({ kind, path }) => kind === 'flat' && path === directory),
  );
  const files = hasPatterns
    ? []
    : entries.filter(({ name, kind }) => kind === 'file' && !plain.has(at(name))).map(({ name }) => at(name));
  return directories.length + files.length > KEEP_MAX
    ? directories.slice(0, KEEP_MAX)
    : [...directories, ...files];
}

/** A link on the way would open what it leads to, which may lie anywhere on the machine. */
function checkWay(path: string, tree: Tree): void {
  const names = path.split('/').filter(Boolean);
  for (let count = 1; count <= names.length; count += 1) {
    const at = names.slice(0, count).join('/');
    const kind = tree.kindOf(at);
    if (kind === undefined || kind === 'directory') continue;
    throw new BosunError(
      'invalid-workflow',
      `the scope lets an agent write below ${at}, which is ${kind === 'link' ? 'a symbolic link' : 'no directory'} here: name the directory itself`,
    );
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function isBelowAny(path: string, directories: Iterable<string>): boolean {
  for (const directory of directories) {
    if (path !== directory && (directory === '' || path.startsWith(`${directory}/`))) return true;
  }
  return false;
}
