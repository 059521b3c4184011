/**
 * Stores changes as one commit, in one pack of the engine's git directory. Files are read as they are now, the large
 * ones in pieces; a file that is cut short meanwhile is read again, with all the others.
 */
import { close, closeSync, fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { Breather } from '../base/breather.ts';
import { BosunError } from '../contract/errors.ts';
import { openBelow } from '../system/files/below.ts';
import type { Change } from '../system/git/change.ts';
import { IDENTITY } from '../system/git/git.ts';
import { PackWriter } from '../system/git/pack-writer.ts';
import type { CollectRequest } from './collect.ts';
import { editTree, type TreeEdit } from './edit-tree.ts';

const PIECE_BYTES = 256 * 1024;
/** Up to here a file is read and packed at once: a thread would take longer to be asked. */
const SMALL_BYTES_MAX = 64 * 1024;
const TRIES_MAX = 3;
const readFrom = promisify(read);
const closeLater = promisify(close);

interface Written {
  commit: string;
  /** Changes that had to be left out, as `path: why`. */
  refused: string[];
}

/** A file was cut short while it was read: what was announced can no longer be kept. */
class Shrunk extends Error {}

export async function writeCommit(request: CollectRequest): Promise<Written> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeOnce(request);
    } catch (error) {
      if (!(error instanceof Shrunk)) throw error;
      if (tries === TRIES_MAX)
        throw new BosunError('system', `cannot collect ${error.message}: it keeps changing while it is read`);
    }
  }
}

async function writeOnce({
  git,
  changes,
  parent,
  published,
  message,
  atMs,
  signal,
}: CollectRequest): Promise<Written> {
  const hashName = git.repository.objectFormat;
  using pack = new PackWriter(git.directory, hashName);
  const refused: string[] = [];
  const edits: TreeEdit[] = [];
  const breather = new Breather();
  for (const change of changes) {
    if (change.kind === 'refused') continue;
    signal?.throwIfAborted();
    const made = await editOf(pack, change, signal);
    if ('why' in made) refused.push(`${change.path.toString()}: ${made.why}`);
    else edits.push(made);
    await breather.breathe();
  }
  const write = (content: Buffer): string => pack.add('tree', content);
  const trees = { reader: git.trees, idLength: hashName === 'sha1' ? 20 : 32, write };
  const tree = (await editTree(trees, `${parent}^{tree}`, edits)) ?? write(Buffer.alloc(0));
  const who = `${IDENTITY.name} <${IDENTITY.email}> ${Math.max(0, Math.floor(atMs / 1000))} +0000`;
  const parents = [...new Set([parent, published ?? parent])].map((id) => `parent ${id}\n`).join('');
  const text = `tree ${tree}\n${parents}author ${who}\ncommitter ${who}\n\n${message}`;
  const commit = pack.add('commit', Buffer.from(text));
  await pack.finish();
  return { commit, refused };
}

type Storable = Exclude<Change, { kind: 'refused' }>;

async function editOf(
  pack: PackWriter,
  change: Storable,
  signal: AbortSignal | undefined,
): Promise<TreeEdit | { why: string }> {
  const path = change.path.toString('latin1').split('/');
  if (change.kind === 'delete') return { path, entry: undefined };
  if (change.kind === 'symlink')
    return { path, entry: { mode: '120000', id: pack.add('blob', change.target) } };
  try {
    return { path, entry: { mode: change.mode, id: await storeFile(pack, change, signal) } };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { why: 'it vanished before it was read' };
    if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'EINVAL' || code === 'EACCES' || code === 'EPERM')
      return { why: `it cannot be read (${code})` };
    throw error; // the machine's fault, not the file's: what was not read must not count as collected
  }
}

type FileChange = Extract<Change, { kind: 'file' }>;

/** Never more than was found: that is what was counted. */
async function storeFile(
  pack: PackWriter,
  change: FileChange,
  signal: AbortSignal | undefined,
): Promise<string> {
  const fd = openSource(change);
  const size = Math.min(fstatSync(fd).size, change.size);
  if (size <= SMALL_BYTES_MAX) return pack.add('blob', readSmall(fd, size));
  try {
    return await pack.addLarge(size, piecesOf(fd, size, change.path, signal));
  } finally {
    await closeLater(fd);
  }
}

/** No link is followed on the way to it from the top of its layer: an agent that is at work may put one there. */
function openSource({ source, path }: FileChange): number {
  const at = source.length - path.length;
  const isBelow = at > 0 && source.subarray(at).equals(path);
  const from = isBelow ? at : source.lastIndexOf('/') + 1;
  return openBelow(source.subarray(0, from - 1), source.subarray(from));
}

function readSmall(fd: number, size: number): Buffer {
  try {
    const content = Buffer.allocUnsafe(size);
    return content.subarray(0, readSync(fd, content));
  } finally {
    closeSync(fd);
  }
}

/** Exactly `size` bytes: what was added since is left out. */
async function* piecesOf(
  fd: number,
  size: number,
  path: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (let left = size; left > 0;) {
    signal?.throwIfAborted();
    const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
    const { bytesRead } = await readFrom(fd, piece, 0, piece.length, null);
    if (bytesRead === 0) throw new Shrunk(path.toString());
    yield piece.subarray(0, bytesRead);
    left -= bytesRead;
  }
}
