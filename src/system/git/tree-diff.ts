/**
 * What differs between two trees where that is little, without a process of git: of directories that are the same
 * nothing is read. Where it is much it gives up, since git is faster then.
 */
import type { TreeReader } from './tree-reader.ts';

/** How many trees are read on each side, and how much is in all of them: nobody else has a turn while one is taken apart. */
const TREES_MAX = 64;
const BYTES_MAX = 1024 ** 2;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);

export interface TreeChange {
  /** As git writes them; undefined on the side that has no such entry. A directory is never one. */
  from: TreeEntry | undefined;
  to: TreeEntry | undefined;
}

interface TreeEntry {
  mode: string;
  id: string;
}

/** `from` and `to` are ids of commits or trees. Undefined where it gave up. */
export async function diffTrees(
  reader: Pick<TreeReader, 'read'>,
  idLength: number,
  from: string,
  to: string,
): Promise<TreeChange[] | undefined> {
  const changes: TreeChange[] = [];
  let pairs: [string | undefined, string | undefined][] = [[`${from}^{tree}`, `${to}^{tree}`]];
  let bytes = 0;
  const entriesOf = async (name: string | undefined): Promise<Map<string, TreeEntry>> => {
    const content = name === undefined ? NOTHING : await reader.read(name);
    bytes += content.length;
    return parseTree(bytes > BYTES_MAX ? NOTHING : content, idLength);
  };
  for (let read = 0; pairs.length > 0;) {
    if ((read += pairs.length) > TREES_MAX) return undefined;
    const below: typeof pairs = [];
    await Promise.all(
      pairs.map(async ([before, after]) => {
        const [olds, news] = await Promise.all([entriesOf(before), entriesOf(after)]);
        for (const name of new Set([...olds.keys(), ...news.keys()])) {
          const [old, now] = [olds.get(name), news.get(name)];
          if (old?.mode === now?.mode && old?.id === now?.id) continue;
          const [oldTree, newTree] = [treeOf(old), treeOf(now)];
          if (oldTree ?? newTree) below.push([oldTree, newTree]);
          const files = { from: oldTree ? undefined : old, to: newTree ? undefined : now };
          if (files.from ?? files.to) changes.push(files);
        }
      }),
    );
    if (bytes > BYTES_MAX) return undefined;
    pairs = below;
  }
  return changes;
}

/** Old repositories have modes with a zero before them. */
function treeOf(entry: TreeEntry | undefined): string | undefined {
  return entry && /^0?40000$/.test(entry.mode) ? entry.id : undefined;
}

/** By name, as latin1 text: for each entry its mode, a space, its name, a zero, its id. */
function parseTree(content: Buffer, idLength: number): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (let start = 0; start < content.length;) {
    const space = content.indexOf(SPACE, start);
    const zero = content.indexOf(0, space);
    const end = zero + 1 + idLength;
    if (space < start || zero < space || end > content.length) throw new Error('git gave a damaged tree');
    entries.set(content.toString('latin1', space + 1, zero), {
      mode: content.toString('latin1', start, space),
      id: content.toString('hex', zero + 1, end),
    });
    start = end;
  }
  return entries;
}
