/**
 * Feeds changes to `git fast-import` as one commit. Files are read in pieces; the stream stays in step
 * whatever happens to a file while it is read.
 */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { BosunError } from '../contract/errors.ts';
import type { Change } from '../system/change.ts';
import { cQuote, IDENTITY, reasonOf } from '../system/git.ts';
import { exitOf } from '../system/process.ts';
import type { CollectRequest } from './collect.ts';

const PIECE_BYTES = 1024 * 1024;
const TRIES_MAX = 3;

interface Imported {
  commit: string;
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

async function importOnce({ git, changes, parent, ref, message, atMs }: CollectRequest): Promise<Imported> {
  const child = git.start(['fast-import', '--quiet', '--done', '--force']);
  const ended = exitOf(child, ['git']);
  ended.catch(() => {});
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4096)));
  child.stdin!.on('error', () => {}); // the exit code tells
  const refused: string[] = [];
  try {
    const stream = new Feed(child);
    const text = Buffer.from(message);
    await stream.write(
      `commit ${ref}\nmark :1\ncommitter ${IDENTITY.name} <${IDENTITY.email}> ${Math.max(0, Math.floor(atMs / 1000))} +0000\n` +
        `data ${text.length}\n${message}\nfrom ${parent}\n`,
    );
    for (const change of changes) {
      const why = await writeChange(stream, change);
      if (why !== undefined) refused.push(`${change.path.toString()}: ${why}`);
    }
    await stream.write('\nget-mark :1\ndone\n');
    await stream.flush();
    child.stdin!.end();
  } catch (error) {
    child.kill('SIGKILL'); // without `done` nothing of it counts
    await ended.catch(() => {});
    throw error;
  }
  const { code, signal } = await ended;
  const commit = stdout.trim();
  if (code === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return { commit, refused };
  const full = /No space left on device/.test(stderr) ? '; the disk is full, make room' : '';
  throw new BosunError(
    'system',
    `git could not store the changes for ${ref}: ${reasonOf(stderr) || (signal ?? `exit code ${code}`)}${full}`,
  );
}

/** Gives the reason where the change has to be left out. */
async function writeChange(stream: Feed, change: Change): Promise<string | undefined> {
  if (change.kind === 'refused') return undefined;
  const name = cQuote(change.path);
  if (change.kind === 'delete') await stream.write('D ', name, '\n');
  else if (change.kind === 'symlink') {
    await stream.write('M 120000 inline ', name, `\ndata ${change.target.length}\n`, change.target, '\n');
  } else return writeFile(stream, change, name);
  return undefined;
}

async function writeFile(
  stream: Feed,
  { source, mode, path }: Extract<Change, { kind: 'file' }>,
  name: Buffer,
): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'it vanished before it was read' : `it cannot be read (${code})`;
  }
  try {
    const { size } = await file.stat();
    await stream.write(`M ${mode} inline `, name, `\ndata ${size}\n`);
    await writeContent(stream, file, size, path);
    await stream.write('\n');
  } finally {
    await file.close();
  }
  return undefined;
}

/** Exactly `size` bytes: what was added since is left out. */
async function writeContent(stream: Feed, file: FileHandle, size: number, path: Buffer): Promise<void> {
  for (let left = size; left > 0;) {
    const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
    const { bytesRead } = await file.read(piece, 0, piece.length);
    if (bytesRead === 0) throw new Shrunk(path.toString());
    await stream.write(piece.subarray(0, bytesRead));
    left -= bytesRead;
  }
}

const FEED_BYTES = 64 * 1024;

/** Writes in few pieces, and waits while git is behind or until it is gone. */
class Feed {
  readonly #child: ChildProcess;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  async write(...data: (string | Buffer)[]): Promise<void> {
    for (const piece of data) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      this.#pending.push(bytes);
      this.#pendingBytes += bytes.length;
    }
    if (this.#pendingBytes >= FEED_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const stdin = this.#child.stdin!;
    const data = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    if (stdin.destroyed || stdin.write(data)) return;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        stdin.off('drain', goOn);
        stdin.off('close', goOn);
        resolve();
      };
      stdin.on('drain', goOn);
      stdin.on('close', goOn);
    });
  }
}
