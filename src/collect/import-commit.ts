/**
 * Feeds changes to `git fast-import` as one commit. Files are read in pieces; the stream stays in step
 * whatever happens to a file while it is read.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { BosunError } from '../contract/errors.ts';
import type { Change } from '../system/change.ts';
import type { ChangedPath } from '../system/engine-git.ts';
import { cQuote, IDENTITY, reasonOf } from '../system/git.ts';
import { exitOf } from '../system/process.ts';
import { answersToPaths, questions } from './ask-import.ts';
import type { CollectRequest } from './collect.ts';

const PIECE_BYTES = 256 * 1024;
/** Up to here a file is read at once: a thread would take longer to be asked. */
const SMALL_BYTES_MAX = 256 * 1024;
const TRIES_MAX = 3;

interface Imported {
  commit: string;
  /** What really differs from the parent; undefined where git has to be asked for it. */
  paths: ChangedPath[] | undefined;
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
  const asked = questions(changes, parent);
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
    await stream.write('\nget-mark :1\n', asked.text, 'done\n');
    await stream.flush();
    child.stdin!.end();
  } catch (error) {
    child.kill('SIGKILL'); // without `done` nothing of it counts
    await ended.catch(() => {});
    throw error;
  }
  const { code, signal } = await ended;
  const [commit, ...answers] = stdout.trimEnd().split('\n');
  if (code === 0 && commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit)) {
    return { commit, paths: answersToPaths(asked, answers), refused };
  }
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
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  let file: FileHandle;
  try {
    const content = readSmall(source, flag);
    if (content !== undefined) {
      await stream.write(`M ${mode} inline `, name, `\ndata ${content.length}\n`, content, '\n');
      return undefined;
    }
    file = await open(source, flag);
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
async function writeContent(stream: Feed, file: FileHandle, size: number, path: Buffer): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
  for (let left = size; left > 0;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(left, piece.length));
    if (bytesRead === 0) throw new Shrunk(path.toString());
    await stream.write(piece.subarray(0, bytesRead));
    await stream.flush(); // the next piece takes the same memory
    left -= bytesRead;
  }
}

const FEED_BYTES = 64 * 1024;

/** Writes in few pieces, and waits until git has taken them or is gone. */
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
    const data = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    if (data.length > 0)
      await new Promise<void>((resolve) => this.#child.stdin!.write(data, () => resolve()));
  }
}
