/**
 * Makes the commit that stands in for another where an agent must not see all of it: the same tree without the
 * hidden paths, and without a history. Works in the engine's git directory alone, never in a workspace.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { parseGlob } from '../base/glob-syntax.ts';
import { compileGlobs, literalStarts } from '../base/globs.ts';
import { BosunError } from '../contract/errors.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { splitNul } from '../system/git/git.ts';

const MESSAGE = 'The files as this agent may see them\n';
const LINK_MODE = '120000';
const TARGET_CHARS_MAX = 200;

export interface FilteredCommit {
  commit: string;
  /** Paths of the original that are left out. */
  hidden: Buffer[];
  /** Objects of the hidden paths that are at no other path. */
  objects: ReadonlySet<string>;
}

interface TreeEntry {
  mode: string;
  object: string;
  path: Buffer;
}

/** `scratch` is a directory for a file that is gone again at the end. The same request gives the same commit. */
export async function filterCommit(
  engine: EngineGit,
  commit: string,
  hide: readonly string[],
  scratch: string,
): Promise<FilteredCommit> {
  const listed = await engine.run(['ls-tree', '-r', '-z', '--full-tree', commit]);
  const entries = splitNul(listed.stdout).map(readEntry);
  const isHidden = compileGlobs(hide);
  await refuseLinks(engine, entries, hide, isHidden);
  const hidden: TreeEntry[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    if (isHidden(entry.path.toString())) hidden.push(entry);
    else seen.add(entry.object);
  }
  const tree = await treeWithout(engine, commit, hidden, path.join(scratch, 'index'));
  const seconds = Number(await engine.text(['show', '-s', '--format=%ct', commit]));
  return {
    commit: await engine.commitTree({ tree, parents: [], message: MESSAGE, atMs: seconds * 1000 }),
    hidden: hidden.map((entry) => entry.path),
    objects: new Set(hidden.map(({ object }) => object).filter((object) => !seen.has(object))),
  };
}

/** `<mode> <type> <object>\t<path>` */
function readEntry(line: Buffer): TreeEntry {
  const tab = line.indexOf(9);
  const [mode, , object] = line.subarray(0, tab).toString().split(' ') as [string, string, string];
  return { mode, object, path: line.subarray(tab + 1) };
}

async function treeWithout(
  engine: EngineGit,
  commit: string,
  hidden: readonly TreeEntry[],
  index: string,
): Promise<string> {
  const env = { GIT_INDEX_FILE: index };
  try {
    await engine.run(['read-tree', commit], { env });
    // mode 0 takes a path out
    const input = Buffer.concat(
      hidden.flatMap(({ object, path }) => [
        Buffer.from(`0 ${'0'.repeat(object.length)}\t`),
        path,
        Buffer.from([0]),
      ]),
    );
    await engine.run(['update-index', '-z', '--index-info'], { env, input });
    return await engine.text(['write-tree'], { env });
  } finally {
    await rm(index, { force: true });
  }
}

/** What lies behind a link is no path of its own: it would stay to be seen where the link leads. */
async function refuseLinks(
  engine: EngineGit,
  entries: readonly TreeEntry[],
  hide: readonly string[],
  isHidden: (path: string) => boolean,
): Promise<void> {
  const links = new Map(
    entries.filter(({ mode }) => mode === LINK_MODE).map(({ path, object }) => [path.toString(), object]),
  );
  if (links.size === 0) return;
  for (const glob of hide) {
    const link = wayThrough(glob).find((directory) => links.has(directory) && !isHidden(directory));
    if (link === undefined) continue;
    const { stdout } = await engine.run(['cat-file', 'blob', links.get(link)!]);
    throw throughLink(glob, link, stdout);
  }
}

/** The directories that a glob leads through by name, itself included. */
export function wayThrough(glob: string): string[] {
  return literalStarts(parseGlob(glob)).flatMap((names) =>
    names.map((_, n) => names.slice(0, n + 1).join('/')),
  );
}

export function throughLink(glob: string, link: string, target: Buffer): BosunError {
  const leads = target.toString().slice(0, TARGET_CHARS_MAX);
  return new BosunError(
    'invalid-workflow',
    `scope.hide names ${glob}, but ${link} is a symbolic link to ${leads}, where the files could still be seen: name them where they are instead`,
  );
}
