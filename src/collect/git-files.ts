/**
 * Reads the files of a result that git obeys: those that git would refuse to push or fetch, that would keep it busy, or
 * that make a repository of a directory. It says what is wrong with them; others say what becomes of that.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Breather } from '../base/breather.ts';
import { comparedName } from '../base/dot-git.ts';
import type { Change } from '../system/change.ts';
import type { EngineGit } from '../system/engine-git.ts';
import { submoduleProblem } from './submodules.ts';

const MODULES_BYTES_MAX = 256 * 1024;
/** Of all that an attempt changed: git compares each rule with each path. */
const ATTRIBUTES_BYTES_MAX = 256 * 1024;
const WILDCARDS_MAX = 5000;
const HEAD_BYTES_MAX = 256;
/** To look at one takes a process of git. */
const LOOKED_AT_MAX = 100;
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface GitFiles {
  /** With what no result may hold turned into a refusal. */
  changes: readonly Change[];
  /** What makes a bare repository of the directory that it is in. */
  heads: ReadonlySet<Change>;
}

export async function readGitFiles(
  git: EngineGit,
  parent: string,
  changes: readonly Change[],
): Promise<GitFiles> {
  const heads = new Set<Change>();
  const refused = new Map<Change, string>();
  const breather = new Breather();
  let [bytes, wildcards, lookedAt] = [0, 0, 0];
  for (const change of changes) {
    if (breather.isDue) await breather.breathe();
    if (change.kind !== 'file' && change.kind !== 'symlink') continue;
    const name = nameOf(change.path);
    if (!MAY_BE_ONE.test(name)) continue;
    const compared = comparedName(name);
    if (compared === 'head') {
      if (!isHead(change)) continue;
      if (++lookedAt > LOOKED_AT_MAX || !(await hadHead(git, parent, change.path))) heads.add(change);
    } else if (change.kind === 'symlink') {
      continue; // git follows none of the others
    } else if (compared === '.gitattributes') {
      bytes += change.size;
      if (bytes <= ATTRIBUTES_BYTES_MAX)
        wildcards += read(change.source, change.size).match(/[*?[]/g)?.length ?? 0;
      if (bytes > ATTRIBUTES_BYTES_MAX || wildcards > WILDCARDS_MAX)
        refused.set(
          change,
          `git would take too long with so many rules: at most ${ATTRIBUTES_BYTES_MAX / 1024} KB and ${WILDCARDS_MAX} wildcards, in all`,
        );
    } else if (compared === '.gitmodules' || /^gitmod~\d$/.test(compared)) {
      const isTooMuch = change.size > MODULES_BYTES_MAX || ++lookedAt > LOOKED_AT_MAX;
      const why = isTooMuch
        ? `larger than ${MODULES_BYTES_MAX / 1024} KB, or one of more than ${LOOKED_AT_MAX}`
        : await submoduleProblem(git, read(change.source, MODULES_BYTES_MAX));
      if (why !== undefined) refused.set(change, why);
    }
  }
  if (refused.size === 0) return { changes, heads };
  const left = changes.map((change): Change => {
    const why = refused.get(change);
    return why === undefined ? change : { kind: 'refused', path: change.path, why };
  });
  return { changes: left, heads };
}

/** Saves a closer look at most names; these letters may have other forms, or others between them. */
// oxlint-disable-next-line no-control-regex
const MAY_BE_ONE = /^head|^\.?git|[^\x00-\x7f]/i;

function nameOf(path: Buffer): string {
  return path.subarray(path.lastIndexOf('/') + 1).toString();
}

/** As git looks at it: a ref's name, or a hash. */
function isHead(change: Extract<Change, { kind: 'file' | 'symlink' }>): boolean {
  if (change.kind === 'symlink') return change.target.toString().startsWith('refs/');
  return looksLikeHead(read(change.source, HEAD_BYTES_MAX));
}

function looksLikeHead(text: string): boolean {
  return /^(?:ref:\s*refs\/|[0-9a-f]{40})/i.test(text);
}

/** Then nothing becomes a repository that was none. */
async function hadHead(git: EngineGit, parent: string, path: Buffer): Promise<boolean> {
  const object = Buffer.concat([Buffer.from(`${parent}:`), path]).toString();
  const { code, stdout } = await git.run(['cat-file', 'blob', object], { codes: [0, 128] });
  const text = stdout.subarray(0, HEAD_BYTES_MAX).toString();
  return code === 0 && (looksLikeHead(text) || text.startsWith('refs/'));
}

/** Nothing of what is not there any more: who collects it says so. */
function read(source: Buffer, bytesMax: number): string {
  let file: number;
  try {
    file = openSync(source, READ_ONLY);
  } catch {
    return '';
  }
  try {
    const buffer = Buffer.alloc(bytesMax);
    let length = 0;
    for (let more = -1; more !== 0 && length < bytesMax; length += more)
      more = readSync(file, buffer, length, bytesMax - length, null);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
