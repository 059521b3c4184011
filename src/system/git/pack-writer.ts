/**
 * Writes objects straight into a pack of a git directory. git itself would have to be asked, and takes longer to
 * answer than this takes to write; so would a thread, for each piece, so only the disk itself is waited for. Nothing
 * of it is seen before `finish`, and then all of it is on disk.
 *
 * The formats: gitformat-pack(5), version 2 of both files.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, crc32, createDeflate, deflateSync } from 'node:zlib';
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { packIndexOf, type PackedObject } from './pack-index.ts';
import type { ObjectFormat } from './repository.ts';
import { sandboxUid } from '../process/sandbox-user.ts';
import { storedZlib } from './stored-zlib.ts';

const TYPE = { commit: 1, tree: 2, blob: 3 } as const;
export type ObjectType = keyof typeof TYPE;

const HEAD_BYTES = 12;
const PENDING_BYTES_MAX = 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** Sooner rather than smaller: git packs them again, and better, when there are many. */
const DEFLATE = { level: constants.Z_BEST_SPEED };
/** What an engine that was killed has left behind begins with this. */
export const UNFINISHED_PREFIX = 'tmp_pack_';
let packCount = 0;

export class PackWriter implements Disposable {
  readonly #directory: string;
  readonly #hashName: ObjectFormat;
  readonly #unfinished: string;
  readonly #file: number;
  readonly #objects = new Map<string, PackedObject>();
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = HEAD_BYTES;

  constructor(gitDirectory: string, hashName: ObjectFormat) {
    this.#directory = path.join(gitDirectory, 'objects', 'pack');
    this.#hashName = hashName;
    this.#unfinished = path.join(this.#directory, `${UNFINISHED_PREFIX}${process.pid}_${(packCount += 1)}`);
    this.#file = stored(() => openSync(this.#unfinished, 'w+', 0o444));
  }

  /** For what is small; the id. */
  add(type: ObjectType, content: Buffer): string {
    const id = this.#hashOf(type, content.length).update(content).digest('hex');
    if (this.#objects.has(id)) return id;
    // A tree is ids more than anything else, and those do not get smaller.
    const body = type === 'blob' ? deflateSync(content, DEFLATE) : storedZlib(content);
    const packed = Buffer.concat([objectHead(type, content.length), body]);
    this.#objects.set(id, { id, offset: this.#writtenBytes + this.#pendingBytes, crc: crc32(packed) });
    this.#pending.push(packed);
    this.#pendingBytes += packed.length;
    if (this.#pendingBytes > PENDING_BYTES_MAX) this.#flush();
    return id;
  }

  /** For a file of any size: exactly `size` bytes. Nothing else is added meanwhile. */
  async addLarge(size: number, pieces: AsyncIterable<Buffer>): Promise<string> {
    this.#flush();
    const offset = this.#writtenBytes;
    const hash = this.#hashOf('blob', size);
    const head = objectHead('blob', size);
    let crc = crc32(head);
    this.#append(head);
    await pipeline(
      async function* hashed() {
        for await (const piece of pieces) {
          hash.update(piece);
          yield piece;
        }
      },
      createDeflate(DEFLATE),
      async (packed: AsyncIterable<Buffer>) => {
        for await (const piece of packed) {
          crc = crc32(piece, crc);
          this.#append(piece);
        }
      },
    );
    const id = hash.digest('hex');
    // Twice in one pack would be wrong: what follows is written over it.
    if (this.#objects.has(id)) this.#writtenBytes = offset;
    else this.#objects.set(id, { id, offset, crc });
    return id;
  }

  /** On disk, and there for everybody. */
  async finish(): Promise<void> {
    this.#flush();
    const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    head.writeUInt32BE(this.#objects.size, 8);
    writeAll(this.#file, head, 0);
    stored(() => ftruncateSync(this.#file, this.#writtenBytes));
    const checksum = this.#checksum();
    this.#append(checksum);
    const index = packIndexOf([...this.#objects.values()], checksum, this.#hashName);
    await Promise.all([settle(this.#file), writeSettled(`${this.#unfinished}_idx`, index)]);
    const name = path.join(this.#directory, `pack-${checksum.toString('hex')}`);
    stored(() => {
      renameSync(this.#unfinished, `${name}.pack`);
      renameSync(`${this.#unfinished}_idx`, `${name}.idx`); // last: this is what git looks for
    });
  }

  /** Where it was not finished, nothing is left of it. */
  [Symbol.dispose](): void {
    closeSync(this.#file);
    rmSync(this.#unfinished, { force: true });
    rmSync(`${this.#unfinished}_idx`, { force: true });
  }

  #hashOf(type: ObjectType, size: number): Hash {
    return createHash(this.#hashName).update(`${type} ${size}\0`);
  }

  #flush(): void {
    const data = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#append(data);
  }

  #append(data: Buffer): void {
    writeAll(this.#file, data, this.#writtenBytes);
    this.#writtenBytes += data.length;
  }

  /** Read again, since the number of objects comes first and is known last. */
  #checksum(): Buffer {
    const hash = createHash(this.#hashName);
    const piece = Buffer.allocUnsafe(Math.min(this.#writtenBytes, PIECE_BYTES));
    for (let at = 0; at < this.#writtenBytes;) {
      const readBytes = readSync(this.#file, piece, 0, piece.length, at);
      if (readBytes === 0) throw new BosunError('system', `${this.#unfinished} was cut short by somebody`);
      hash.update(piece.subarray(0, readBytes));
      at += readBytes;
    }
    return hash.digest();
  }
}

/** The type and the size: four bits of it in the first byte, seven in each that follows. */
function objectHead(type: ObjectType, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (TYPE[type] << 4) | (size % 16);
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes.push(byte | 128);
    byte = left % 128;
  }
  return Buffer.from([...bytes, byte]);
}

async function writeSettled(name: string, content: Buffer): Promise<void> {
  const file = stored(() => openSync(name, 'w', 0o444));
  try {
    writeAll(file, content, 0);
    await settle(file);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, data: Buffer, at: number): void {
  for (let done = 0; done < data.length;)
    done += stored(() => writeSync(file, data, done, data.length - done, at + done));
}

async function settle(file: number): Promise<void> {
  if (sandboxUid !== undefined) fchmodSync(file, 0o444); // whatever the umask: workspaces borrow from it
  await promisify(fdatasync)(file).catch((cause: unknown) => {
    throw unstorable(cause);
  });
}

function stored<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw unstorable(cause);
  }
}

function unstorable(cause: unknown): BosunError {
  const what = 'the changes could not be stored';
  return (
    machineError(cause, what) ?? new BosunError('system', `${what}: ${(cause as Error).message}`, { cause })
  );
}
