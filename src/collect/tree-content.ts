/**
 * The bytes of a tree of git's: for each entry its mode, a space, its name, a zero, its id. They are cut and put
 * together, not taken apart: a directory may have thousands of entries of which one is edited.
 */
const SPACE = 0x20;

export interface TreeEntry {
  mode: string;
  id: string;
}

/** An entry, and the bytes that it is. */
interface Found extends TreeEntry {
  start: number;
  end: number;
}

/** Bytes that give way to others; none, where something is only put in. */
interface Cut {
  start: number;
  end: number;
  bytes: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Old repositories have modes with a zero before them. */
export function isDirectory({ mode }: Pick<TreeEntry, 'mode'>): boolean {
  return mode === '40000' || mode === '040000';
}

export function findEntries(
  content: Buffer,
  idLength: number,
  names: ReadonlyMap<string, unknown>,
): Map<string, Found> {
  const found = new Map<string, Found>();
  const lengths = new Set(Array.from(names.keys(), ({ length }) => length));
  eachEntry(content, idLength, (start, space, zero, end) => {
    if (!lengths.has(zero - space - 1)) return;
    const name = content.toString('latin1', space + 1, zero);
    if (!names.has(name)) return;
    const mode = content.toString('latin1', start, space);
    found.set(name, { mode, id: content.toString('hex', zero + 1, end), start, end });
  });
  return found;
}

/** `found` are the entries of the same names; undefined is one that goes away. */
export function withEntries(
  content: Buffer,
  idLength: number,
  found: ReadonlyMap<string, Found>,
  edited: ReadonlyMap<string, TreeEntry | undefined>,
): Buffer {
  const cuts: Cut[] = [];
  const added: { key: string; bytes: Buffer }[] = [];
  for (const [name, entry] of edited) {
    const before = found.get(name);
    const bytes = entry ? bytesOf(name, entry) : NOTHING;
    const staysInPlace = before && entry && isDirectory(before) === isDirectory(entry);
    if (before) cuts.push({ start: before.start, end: before.end, bytes: staysInPlace ? bytes : NOTHING });
    if (entry && !staysInPlace) added.push({ key: keyOf(name, entry), bytes });
  }
  cuts.push(...placesFor(content, idLength, added));
  cuts.sort((a, b) => a.start - b.start || a.end - b.end);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end, bytes } of cuts) {
    pieces.push(content.subarray(from, start), bytes);
    from = end;
  }
  return Buffer.concat([...pieces, content.subarray(from)]);
}

/** Each goes before the first entry that comes after it in git's order. */
function placesFor(content: Buffer, idLength: number, added: { key: string; bytes: Buffer }[]): Cut[] {
  if (added.length === 0) return [];
  const cuts: Cut[] = [];
  const left = added.toSorted((a, b) => (a.key < b.key ? 1 : -1)); // the first one last
  eachEntry(content, idLength, (start, space, zero) => {
    const mode = content.toString('latin1', start, space);
    const key = keyOf(content.toString('latin1', space + 1, zero), { mode });
    while (left.length > 0 && left.at(-1)!.key < key)
      cuts.push({ start, end: start, bytes: left.pop()!.bytes });
  });
  const end = content.length;
  return [...cuts, ...left.toReversed().map(({ bytes }) => ({ start: end, end, bytes }))];
}

/** git's order is by bytes, with directories as if their names ended in a slash. */
function keyOf(name: string, entry: Pick<TreeEntry, 'mode'>): string {
  return isDirectory(entry) ? `${name}/` : name;
}

function bytesOf(name: string, { mode, id }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
}

function eachEntry(
  content: Buffer,
  idLength: number,
  take: (start: number, space: number, zero: number, end: number) => void,
): void {
  for (let start = 0; start < content.length;) {
    const space = content.indexOf(SPACE, start);
    const zero = content.indexOf(0, space);
    const end = zero + 1 + idLength;
    take(start, space, zero, end);
    start = end;
  }
}
