/**
 * Feeds changes to `git fast-import` as one commit. Files are read in pieces; the stream stays in step
 * whatever happens to a file while it is read.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { BosunError } from '../contract/errors.ts';
import type { Change } from '../system/change.ts';
import { cQuote, IDENTITY } from '../system/git.ts';
import type { Feed } from '../system/import-stream.ts';
import type { CollectRequest } from './collect.ts';

const PIECE_BYTES = 256 * 1024;
/** Up to here a file is read at once: a thread would take longer to be asked. */
const SMALL_BYTES_MAX = 256 * 1024;
const TRIES_MAX = 3;
/** The importer writes all its branches at every checkpoint, so it has one; the refs that count are set afterwards. */
const IMPORT_REF = 'refs/bosun-import';

interface Imported {
  commit: string;
  /** Changes that had to be left out, as `path: why`. */
  refused: string[];
}

/** A file was cut short while it was read: what was announced can no longer be kept. */
class Shrunk extends Error {}

export async function importCommit(request: CollectRequest): Promise<Imported> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await importOnce(request);
    } catch (error) {
      if (!(error instanceof Shrunk)) throw error;
      if (tries === TRIES_MAX)
        throw new BosunError('system', `cannot collect ${error.message}: it keeps changing while it is read`);
    }
  }
}

async function importOnce({ git, changes, parent, message, atMs }: CollectRequest): Promise<Imported> {
  const refused: string[] = [];
  const [commit] = await git.imports.use(async (feed) => {
    const text = Buffer.from(message);
    await feed.write(
      `commit ${IMPORT_REF}\nmark :1\ncommitter ${IDENTITY.name} <${IDENTITY.email}> ${Math.max(0, Math.floor(atMs / 1000))} +0000\n` +
        `data ${text.length}\n${message}\nfrom ${parent}\n`,
    );
    for (const change of changes) {
      const why = await writeChange(feed, change);
      if (why !== undefined) refused.push(`${change.path.toString()}: ${why}`);
    }
    await feed.write('\nget-mark :1\n');
  });
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit))
    throw new Error(`git gave no commit: ${commit}`);
  return { commit, refused };
}

/** Gives the reason where the change has to be left out. */
async function writeChange(feed: Feed, change: Change): Promise<string | undefined> {
  if (change.kind === 'refused') return undefined;
  const name = cQuote(change.path);
  if (change.kind === 'delete') await feed.write('D ', name, '\n');
  else if (change.kind === 'symlink') {
    await feed.write('M 120000 inline ', name, `\ndata ${change.target.length}\n`, change.target, '\n');
  } else return writeFile(feed, change, name);
  return undefined;
}

async function writeFile(
  feed: Feed,
  { source, mode, path }: Extract<Change, { kind: 'file' }>,
  name: Buffer,
): Promise<string | undefined> {
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  let file: FileHandle;
  try {
    const content = readSmall(source, flag);
    if (content !== undefined) {
      await feed.write(`M ${mode} inline `, name, `\ndata ${content.length}\n`, content, '\n');
      return undefined;
    }
    file = await open(source, flag);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'it vanished before it was read';
    if (code === 'ELOOP' || code === 'EACCES' || code === 'EPERM') return `it cannot be read (${code})`;
    throw error; // the machine's fault, not the file's: what was not read must not count as collected
  }
  try {
    const { size } = await file.stat();
    await feed.write(`M ${mode} inline `, name, `\ndata ${size}\n`);
    await writeContent(feed, file, size, path);
    await feed.write('\n');
  } finally {
    await file.close();
  }
  return undefined;
}

/** Undefined where the file is too large to be read at once. */
function readSmall(source: Buffer, flag: number): Buffer | undefined {
  const file = openSync(source, flag);
  try {
    const { size } = fstatSync(file);
    if (size > SMALL_BYTES_MAX) return undefined;
    const content = Buffer.allocUnsafe(size);
    return content.subarray(0, readSync(file, content));
  } finally {
    closeSync(file);
  }
}

/** Exactly `size` bytes: what was added since is left out. */
async function writeContent(feed: Feed, file: FileHandle, size: number, path: Buffer): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
  for (let left = size; left > 0;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(left, piece.length));
    if (bytesRead === 0) throw new Shrunk(path.toString());
    await feed.write(piece.subarray(0, bytesRead));
    await feed.flush(); // the next piece takes the same memory
    left -= bytesRead;
  }
}
