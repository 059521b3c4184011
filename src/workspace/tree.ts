/** The layers of a workspace as a tree, and directories made in its own layer. Never follows a link. */
import { chmodSync, mkdirSync, type BigIntStats } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { give } from '../system/process/sandbox-user.ts';
import type { EntryKind, Tree } from '../system/git/tree.ts';
import { listNames, lookup, type Layer } from './stack.ts';

const MODE_BITS = 0o777n;

export function treeOf(layers: readonly Layer[]): Tree {
  return {
    kindOf(path) {
      const entry = lookup(layers, Buffer.from(path));
      return entry && kindOf(entry.stat);
    },
    list: (directory) =>
      listNames(layers, Buffer.from(directory)).map(({ name, entry }) => ({
        name: name.toString(),
        kind: kindOf(entry.stat),
      })),
  };
}

/** In `own`, the topmost of the layers, or the only one. */
export function makeDirectories(
  layers: readonly Layer[],
  own: string,
  paths: readonly string[],
  uid: number | undefined,
): void {
  for (const wanted of paths) {
    const names = wanted.split('/').filter(Boolean);
    if (names.length === 0) continue;
    if (lookup(layers, Buffer.from(wanted))?.stat.isDirectory()) continue;
    for (let count = 1; count <= names.length; count += 1) {
      const at = names.slice(0, count).join('/');
      const entry = lookup(layers, Buffer.from(at));
      if (entry !== undefined && !entry.stat.isDirectory())
        throw new BosunError('system', `cannot make the directory ${wanted}: ${at} is not a directory`);
      const made = path.join(own, at);
      try {
        mkdirSync(made);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      if (entry !== undefined) chmodSync(made, Number(entry.stat.mode & MODE_BITS));
      give(uid, made);
    }
  }
}

function kindOf(stat: BigIntStats): EntryKind {
  if (stat.isDirectory()) return 'directory';
  if (stat.isFile()) return 'file';
  return stat.isSymbolicLink() ? 'link' : 'other';
}
