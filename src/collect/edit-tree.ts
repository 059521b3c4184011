/**
 * Changes a tree of git's along the paths that are edited, and leaves all the rest as it is. Names are latin1 text
 * here, one character for each byte.
 */
import type { TreeReader } from '../system/git/tree-reader.ts';
import { findEntries, isDirectory, withEntries, type TreeEntry } from './tree-content.ts';

export interface TreeEdit {
  /** The parts of its path. */
  path: readonly string[];
  /** Undefined: whatever is there goes away, a directory with all that is in it. */
  entry: TreeEntry | undefined;
}

export interface Trees {
  reader: TreeReader;
  /** Of an id, in bytes. */
  idLength: number;
  /** Stores a tree and gives its id. */
  write(content: Buffer): string;
}

/** The id of the tree that the edits make of `tree`, in their order; undefined where nothing is left in it. */
export async function editTree(
  trees: Trees,
  tree: string | undefined,
  edits: readonly TreeEdit[],
  depth = 0,
): Promise<string | undefined> {
  const content = tree === undefined ? Buffer.alloc(0) : await trees.reader.read(tree);
  const byName = Map.groupBy(edits, ({ path }) => path[depth]!);
  const found = findEntries(content, trees.idLength, byName);
  const edited = new Map<string, TreeEntry | undefined>();
  await Promise.all(
    Array.from(byName, async ([name, own]) =>
      edited.set(name, await editEntry(trees, found.get(name), own, depth + 1)),
    ),
  );
  const changed = withEntries(content, trees.idLength, found, edited);
  return changed.length === 0 ? undefined : trees.write(changed);
}

/** What the edits make of one entry: some are about itself, some about what is below it. */
async function editEntry(
  trees: Trees,
  before: TreeEntry | undefined,
  edits: readonly TreeEdit[],
  depth: number,
): Promise<TreeEntry | undefined> {
  let entry = before;
  let below: TreeEdit[] = [];
  for (const edit of edits) {
    if (edit.path.length === depth) {
      entry = edit.entry;
      below = [];
    } else if (entry === undefined || isDirectory(entry)) below.push(edit);
    else if (edit.entry !== undefined) {
      entry = undefined; // a directory takes the place of a file
      below.push(edit);
    }
  }
  if (below.length === 0) return entry;
  const id = await editTree(trees, entry?.id, below, depth);
  return id === undefined ? undefined : { mode: '40000', id };
}
