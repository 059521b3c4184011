/**
 * Holds what an attempt changed against the scope of its agent: what may go on to a commit, what is refused and
 * why. The last of three fences, and the exact one. Pure: it reads no file.
 */
import { bytesKey } from '../base/bytes-key.ts';
import { isDotGit, isGitmodules } from '../base/dot-git.ts';
import { parseGlob } from '../base/glob-syntax.ts';
import { compileGlobs, literalStarts } from '../base/globs.ts';
import { isSettings, namesSettings } from '../base/settings-path.ts';
import type { Change } from '../system/git/change.ts';

export interface VetScope {
  /** Undefined: anything. */
  write?: readonly string[] | undefined;
  shared?: readonly string[] | undefined;
  hide?: readonly string[] | undefined;
  /** The globs that people wrote: what bosun or git would obey is taken only where one of these names it. */
  named?: readonly string[] | undefined;
}

interface Refusal {
  path: Buffer;
  why: string;
}

export interface Vetted {
  /** What goes on, in the order given: a delete stays before what replaces it. */
  accepted: Change[];
  /** Every change that a commit may hold: the accepted ones, and those that are outside. */
  whole: Change[];
  /** What the scope does not allow, or git should not obey, file by file. */
  outside: Refusal[];
  /** What no commit may hold, whatever the scope. */
  refused: Refusal[];
}

/**
 * The files that the base has at a path or below it; for a file, itself. The base is the whole one, with what
 * was hidden from the attempt: a change does not say what is in the directory that it deletes.
 */
export type FilesBelow = (path: Buffer) => readonly Buffer[];

/** Of the files that git obeys, those that a result may not just have. They are kept with what is outside the scope. */
export interface GitFiles {
  /** What would make a repository of a directory that was none: only where the scope names that. */
  heads: ReadonlySet<Change>;
  /** What would harm whoever uses the result, and why: never. */
  harmful: ReadonlyMap<Change, string>;
}

const NONE: GitFiles = { heads: new Set(), harmful: new Map() };

export function vetChanges(
  changes: readonly Change[],
  scope: VetScope,
  filesBelow: FilesBelow,
  { heads, harmful }: GitFiles = NONE,
): Vetted {
  const outside = judge(scope);
  const kept = new Kept();
  const vetted: Vetted = { accepted: [], whole: [], outside: [], refused: [] };
  const isLimited = limitsAnything(scope);
  for (const change of changes) {
    const { path } = change;
    const problem = nameProblem(change);
    if (problem !== undefined) {
      vetted.refused.push({ path, why: problem });
      continue;
    }
    vetted.whole.push(change);
    const isHead = heads.has(change);
    const harm = harmful.get(change);
    if (!isLimited && !isSettings(path) && !isHead && harm === undefined) vetted.accepted.push(change);
    else if (change.kind === 'delete') vetDelete(change, vetted, outside, filesBelow, kept);
    else {
      const why =
        outside(path) ?? harm ?? (isHead ? repositoryProblem(path, scope) : undefined) ?? kept.problem(path);
      if (why === undefined) vetted.accepted.push(change);
      else vetted.outside.push({ path, why });
    }
  }
  return vetted;
}

/** The deleted directories whose files have to be known before they can be judged. */
export function directoriesToJudge(changes: readonly Change[], scope: VetScope): Buffer[] {
  const isLimited = limitsAnything(scope);
  const deleted = changes.filter((change) => isDirectoryDelete(change));
  return deleted.map(({ path }) => path).filter((path) => isLimited || isSettings(path));
}

function isDirectoryDelete(change: Change): boolean {
  return change.kind === 'delete' && change.wasDirectory !== false;
}

function limitsAnything({ write, hide = [] }: VetScope): boolean {
  return write !== undefined || hide.length > 0;
}

type Judge = (path: Buffer) => string | undefined;

function judge({ write, shared = [], hide = [], named = [] }: VetScope): Judge {
  const isInside = write === undefined ? () => true : compileGlobs([...write, ...shared]);
  const isHidden = compileGlobs(hide);
  const mayNothing = write?.length === 0 && shared.length === 0;
  const isNamed = compileGlobs(named.filter(namesSettings));
  return (path) => {
    const text = path.toString();
    if (isHidden(text)) return 'hidden from the agent';
    if (isSettings(path) && !isNamed(text))
      return `bosun's own settings, which "scope.write" of the workflow has to name (${text})`;
    if (isInside(text)) return undefined;
    return mayNothing ? 'outside the scope: the agent may change nothing' : 'outside the scope';
  };
}

/** git obeys the settings of a repository that it is started in, also of one that lies in a work tree. */
function repositoryProblem(path: Buffer, { named = [] }: VetScope): string | undefined {
  const names = path.toString().split('/');
  const inside = names.length === 1 ? names : names.slice(0, -1);
  const isNamed = named.some((glob) =>
    literalStarts(parseGlob(glob)).some((start) => inside.every((name, n) => name === start[n])),
  );
  if (isNamed) return undefined;
  return `makes a git repository of its directory, whose settings git would obey there; "scope.write" of the workflow has to name it (${inside.join('/')}${names.length === 1 ? '' : '/**'})`;
}

/** Saves a closer look at the names of most paths: letters that git does not see may stand between these. */
const MAY_BE_DOT_GIT = /git|[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/i;

/** What is wrong whatever the scope says. */
function nameProblem(change: Change): string | undefined {
  if (change.kind === 'refused') return change.why;
  const text = change.path.toString();
  const names = text.split(/[/\\]/);
  if (MAY_BE_DOT_GIT.test(text) && names.some(isDotGit)) return 'a name that git keeps for itself';
  if (change.kind !== 'symlink') return undefined;
  // git takes no link of this name, nor what Windows and macOS take for it.
  if (isGitmodules(names.at(-1)!)) return 'git refuses a link of this name';
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

/** Of a directory, what may go goes, and the rest stays. */
function vetDelete(
  change: Extract<Change, { kind: 'delete' }>,
  vetted: Vetted,
  outside: Judge,
  filesBelow: FilesBelow,
  kept: Kept,
): void {
  const { path } = change;
  const below = isDirectoryDelete(change) ? filesBelow(path) : [];
  const files = below.length === 0 ? [path] : below;
  const judged = files.map((file) => ({ path: file, why: outside(file) }));
  if (judged.every(({ why }) => why === undefined)) return void vetted.accepted.push(change);
  for (const { path: file, why } of judged) {
    if (why === undefined) vetted.accepted.push({ kind: 'delete', path: file, wasDirectory: false });
    else {
      kept.add(file);
      vetted.outside.push({ path: file, why });
    }
  }
}

/** Files that stay because their deletion was not allowed: what would take their place cannot be had either. */
class Kept {
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>();

  add(path: Buffer): void {
    const key = bytesKey(path);
    this.#files.add(key);
    for (const above of directoriesOf(key)) this.#directories.add(above);
  }

  problem(path: Buffer): string | undefined {
    if (this.#files.size === 0) return undefined;
    const key = bytesKey(path);
    if (this.#directories.has(key)) return 'in the place of a directory that must stay';
    for (const above of directoriesOf(key)) {
      if (this.#files.has(above)) return 'in the place of a file that must stay';
    }
    return undefined;
  }
}

function* directoriesOf(key: string): Iterable<string> {
  for (let at = key.indexOf('/'); at !== -1; at = key.indexOf('/', at + 1)) yield key.slice(0, at);
}
