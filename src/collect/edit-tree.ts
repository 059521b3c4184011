/**
 * Changes a tree of git's along the paths that are edited, and leaves all the rest as it is. Names are latin1 text
 * here, one character for each byte.
 */
import type { ObjectReader } from '../system/object-reader.ts';

export interface Edit {
  /** The parts of its path. */
  path: readonly string[];
  /** Undefined: whatever is there goes away, a directory with all that is in it. */
  entry: Entry | undefined;
}

interface Entry {
  mode: string;
  id: string;
}

export interface Trees {
  reader: Pick<ObjectReader, 'read'>;
  /** In bytes. */
  idLength: number;
  /** Stores a tree and gives its id. */
  write(content: Buffer): string;
}

const DIRECTORY = '40000';

/** The id of the tree that the edits make of `tree`, in their order; undefined where nothing is left in it. */
export async function editTree(
  trees: Trees,
  tree: string | undefined,
  edits: readonly Edit[],
  depth = 0,
): Promise<string | undefined> {
  const entries = tree === undefined ? new Map<string, Entry>() : await readTree(trees, tree);
  const byName = Map.groupBy(edits, ({ path }) => path[depth]!);
  await Promise.all(
    Array.from(byName, async ([name, own]) => {
      const entry = await editEntry(trees, entries.get(name), own, depth + 1);
      if (entry) entries.set(name, entry);
      else entries.delete(name);
    }),
  );
  return entries.size === 0 ? undefined : trees.write(contentOf(entries));
}

/** What the edits make of one entry: some are about itself, some about what is below it. */
async function editEntry(
  trees: Trees,
  before: Entry | undefined,
  edits: readonly Edit[],
  depth: number,
): Promise<Entry | undefined> {
  let entry = before;
  let below: Edit[] = [];
  for (const edit of edits) {
    if (edit.path.length === depth) {
      entry = edit.entry;
      below = [];
    } else if (entry === undefined || isDirectory(entry.mode)) below.push(edit);
    else if (edit.entry !== undefined) {
      entry = undefined; // a directory takes the place of a file
      below.push(edit);
    }
  }
  if (below.length === 0) return entry;
  const id = await editTree(trees, entry?.id, below, depth);
  return id === undefined ? undefined : { mode: DIRECTORY, id };
}

async function readTree({ reader, idLength }: Trees, name: string): Promise<Map<string, Entry>> {
  const content = await reader.read(name, 'tree');
  const entries = new Map<string, Entry>();
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const zero = content.indexOf(0, space);
    const end = zero + 1 + idLength;
    entries.set(content.toString('latin1', space + 1, zero), {
      mode: content.toString('latin1', at, space),
      id: content.toString('hex', zero + 1, end),
    });
    at = end;
  }
  return entries;
}

/** Old repositories have modes with a zero before them. */
function isDirectory(mode: string): boolean {
  return mode === DIRECTORY || mode === `0${DIRECTORY}`;
}

/** git's order: by bytes, directories as if their names ended in a slash. */
function contentOf(entries: ReadonlyMap<string, Entry>): Buffer {
  const sorted = Array.from(entries, ([name, { mode, id }]) => ({
    key: isDirectory(mode) ? `${name}/` : name,
    name,
    mode,
    id,
  })).sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, mode, id }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(id, 'hex'),
    ]),
  );
}
