/**
 * Holds what an attempt changed against the scope of its agent: what may go on to a commit, what is refused and
 * why. The last of three fences, and the exact one. Pure: it reads no file.
 */
import { compileGlobs, isDotGit } from '../base/globs.ts';
import type { Change } from '../system/change.ts';

export interface VetScope {
  /** Undefined: anything. */
  write?: readonly string[] | undefined;
  shared?: readonly string[] | undefined;
  hide?: readonly string[] | undefined;
}

interface Refusal {
  path: Buffer;
  why: string;
}

export interface Vetted {
  /** In the order given: a delete stays before what replaces it. */
  accepted: Change[];
  refused: Refusal[];
}

/**
 * The files that the base has at a path or below it; for a file, itself. The base is the whole one, with what
 * was hidden from the attempt: a change does not say whether what it deletes is a directory, nor what is in it.
 */
export type FilesBelow = (path: Buffer) => readonly Buffer[];

export function vetChanges(changes: readonly Change[], scope: VetScope, filesBelow: FilesBelow): Vetted {
  const outside = judge(scope);
  const kept = new Kept();
  const vetted: Vetted = { accepted: [], refused: [] };
  for (const change of changes) {
    const why =
      nameProblem(change) ??
      kept.problem(change) ??
      (change.kind === 'delete'
        ? deleteProblem(change.path, outside, filesBelow, kept)
        : outside(change.path));
    if (why === undefined) vetted.accepted.push(change);
    else vetted.refused.push({ path: change.path, why });
  }
  return vetted;
}

type Judge = (path: Buffer) => string | undefined;

function judge({ write, shared = [], hide = [] }: VetScope): Judge {
  const isInside = write === undefined ? () => true : compileGlobs([...write, ...shared]);
  const isHidden = compileGlobs(hide);
  const mayNothing = write?.length === 0 && shared.length === 0;
  return (path) => {
    const text = path.toString();
    if (isHidden(text)) return 'hidden from the agent';
    if (isInside(text)) return undefined;
    return mayNothing ? 'outside the scope: the agent may change nothing' : 'outside the scope';
  };
}

/** What is wrong whatever the scope says. */
function nameProblem(change: Change): string | undefined {
  if (change.kind === 'refused') return change.why;
  const names = change.path.toString().split(/[/\\]/);
  if (names.some(isDotGit)) return 'a name that git keeps for itself';
  if (change.kind !== 'symlink') return undefined;
  // git takes no link of this name, nor what Windows and macOS take for it.
  if (/^(\.gitmodules|gitmod~[1-4])[ .]*$/i.test(names.at(-1)!)) return 'git refuses a link of this name';
  return linkProblem(change.path, change.target);
}

/**
 * Only leading ".." are counted: they lead through real directories. After a name they may not come at all,
 * since that name can be a link, and then ".." leads from where it points to.
 */
function linkProblem(path: Buffer, target: Buffer): string | undefined {
  const text = target.toString();
  if (text.startsWith('/')) return 'a link to an absolute path';
  let depth = path.toString().split('/').length - 1;
  let through: string | undefined;
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') {
      if (name.split('\\').some(isDotGit)) return 'a link into .git';
      through = name;
    } else if (through !== undefined) {
      return `a link through "${through}" and back up, which may lead anywhere`;
    } else if (--depth < 0) return 'a link that leads out of the workspace';
  }
  return undefined;
}

function deleteProblem(path: Buffer, outside: Judge, filesBelow: FilesBelow, kept: Kept): string | undefined {
  const files = filesBelow(path);
  const isFile = files.length === 0 || files.some((file) => file.equals(path));
  if (isFile) {
    const why = outside(path);
    if (why !== undefined) kept.file(path);
    return why;
  }
  for (const file of files) {
    const why = outside(file);
    if (why === undefined) continue;
    kept.directory(path);
    return `a deleted directory with ${file.toString()} in it, which is ${why}`;
  }
  return undefined;
}

/** What stays because its deletion was refused: what would take its place cannot be had either. */
class Kept {
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>();

  file(path: Buffer): void {
    this.#files.add(keyOf(path));
  }

  directory(path: Buffer): void {
    this.#directories.add(keyOf(path));
  }

  problem({ path }: Change): string | undefined {
    if (this.#files.size + this.#directories.size === 0) return undefined;
    const key = keyOf(path);
    if (this.#directories.has(key)) return 'in the place of a directory that must stay';
    if (this.#files.has(key)) return 'in the place of a file that must stay';
    for (let at = key.indexOf('/'); at !== -1; at = key.indexOf('/', at + 1)) {
      if (this.#files.has(key.slice(0, at))) return 'in the place of a file that must stay';
    }
    return undefined;
  }
}

/** Byte for byte, whatever the name is. */
function keyOf(path: Buffer): string {
  return path.toString('latin1');
}
