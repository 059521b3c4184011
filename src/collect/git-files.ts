/**
 * Reads the files of a result that git obeys, and says which of them harm: what git would refuse to push or fetch, what
 * would keep it busy, and what makes a repository of a directory. Where the base has as much already, it says nothing.
 * What becomes of those files is for `vet.ts` to say.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Breather } from '../base/breather.ts';
import { comparedName, isGitmodules } from '../base/dot-git.ts';
import type { Change } from '../system/git/change.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { attributesProblems, type AttributesFile } from './attributes.ts';
import { submoduleProblem } from './submodules.ts';
import type { GitFiles } from './vet.ts';

/** More than the base has. */
const MODULES_BYTES_MAX = 256 * 1024;
const HEAD_BYTES_MAX = 256;
/** Of what the base has; a longer one is as if it were not there. */
const BASE_BYTES_MAX = 16 * 1024 ** 2;
/** To look at one takes a process of git. */
const LOOKED_AT_MAX = 100;
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function readGitFiles(
  git: EngineGit,
  parent: string,
  changes: readonly Change[],
): Promise<GitFiles> {
  const heads = new Set<Change>();
  const harmful = new Map<Change, string>();
  const attributes: (AttributesFile & { change: Change })[] = [];
  const breather = new Breather();
  let lookedAt = 0;
  for (const change of changes) {
    if (breather.isDue) await breather.breathe();
    if (change.kind !== 'file' && change.kind !== 'symlink') continue;
    const name = nameOf(change.path);
    if (!MAY_BE_ONE.test(name)) continue;
    const compared = comparedName(name);
    if (compared === 'head') {
      const isOne = headTest(change);
      if (isOne === undefined) continue;
      const isOld = ++lookedAt <= LOOKED_AT_MAX && isOne(await readBase(git, parent, change.path));
      if (!isOld) heads.add(change); // else nothing becomes a repository that was none
    } else if (change.kind === 'symlink') {
      continue; // git follows none of the others
    } else if (compared === '.gitattributes') {
      const { path, source, size } = change;
      const isLookedAt = (): boolean => !change.isNew && ++lookedAt <= LOOKED_AT_MAX;
      attributes.push({
        change,
        size,
        read: () => read(source, size),
        readBase: async () => (isLookedAt() ? await readBase(git, parent, path) : ''),
      });
    } else if (isGitmodules(name)) {
      const why =
        ++lookedAt > LOOKED_AT_MAX
          ? `one of more than ${LOOKED_AT_MAX} that git would have to be asked about`
          : await modulesProblem(git, parent, change);
      if (why !== undefined) harmful.set(change, why);
    }
  }
  for (const [{ change }, why] of await attributesProblems(attributes)) harmful.set(change, why);
  return { heads, harmful };
}

async function modulesProblem(
  git: EngineGit,
  parent: string,
  { path, source, size, isNew }: Extract<Change, { kind: 'file' }>,
): Promise<string | undefined> {
  const base = isNew ? '' : await readBase(git, parent, path);
  if (size > Buffer.byteLength(base) + MODULES_BYTES_MAX)
    return `more than ${MODULES_BYTES_MAX / 1024} KB larger than before`;
  return submoduleProblem(git, read(source, size), base);
}

/** Saves a closer look at most names; these letters may have other forms, or others between them. */
// oxlint-disable-next-line no-control-regex
const MAY_BE_ONE = /^head|^\.?git|~\d|[^\x00-\x7f]/i;

function nameOf(path: Buffer): string {
  return path.subarray(path.lastIndexOf('/') + 1).toString();
}

/** Undefined where it is no HEAD of a repository; else what tells whether the base had as much there. */
function headTest(
  change: Extract<Change, { kind: 'file' | 'symlink' }>,
): ((base: string) => boolean) | undefined {
  if (change.kind === 'symlink') return change.target.toString().startsWith('refs/') ? isHead : undefined;
  const text = read(change.source, HEAD_BYTES_MAX);
  if (isHead(text)) return isHead;
  return mayBecomeHead(text) ? (base) => isHead(base) || mayBecomeHead(base) : undefined;
}

/** As git looks at it: a ref's name, where it is a link also without a word before it, or a hash. */
function isHead(text: string): boolean {
  return /^(?:(?:ref:\s*)?refs\/|[0-9a-f]{40})/i.test(text);
}

/** A working-tree-encoding, such as ASCII//TRANSLIT or IBM037, makes any letters of other letters; bytes that are no text stay. */
function mayBecomeHead(text: string): boolean {
  const beginning = text.slice(0, HEAD_BYTES_MAX);
  // oxlint-disable-next-line no-control-regex
  return /[^\x00-\x7f\ufffd]/.test(beginning) && !/\ufffd./s.test(beginning);
}

/** Nothing where the base has no such file. */
async function readBase(git: EngineGit, parent: string, path: Buffer): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${parent}:`), path]).toString();
  const { code, stdout } = await git.run(['cat-file', 'blob', object], {
    codes: [0, 128],
    stdoutBytesMax: BASE_BYTES_MAX,
  });
  return code === 0 ? stdout.toString() : '';
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
