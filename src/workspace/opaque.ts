/**
 * Finds the directories of a layer that hide all below them. Node reads no extended attributes: a native program
 * does, or tar, which is asked for the headers of those directories that could be meant.
 */
import { readdir } from 'node:fs/promises';
import { bytesKey } from '../base/bytes-key.ts';
import { Breather } from '../base/breather.ts';
import { BosunError } from '../contract/errors.ts';
import { capture } from '../system/process/process.ts';
import type { OpaqueReader } from './read-opaque.ts';
import { join, lookup, type Layer } from './stack.ts';

const ATTRIBUTE = 'SCHILY.xattr.user.overlay.opaque';
const BLOCK_BYTES = 512;

/** Of `upper` over `lowers`. */
export async function findOpaque(
  upper: string,
  lowers: readonly Layer[],
  reader: OpaqueReader | undefined,
): Promise<Set<string>> {
  const candidates: Buffer[] = [];
  await findShared(upper, lowers, Buffer.alloc(0), candidates, new Breather());
  if (candidates.length === 0) return new Set();
  if (!reader) return askTar(upper, candidates);
  const answers = await reader.read(candidates.map((candidate) => join(upper, candidate)));
  return new Set(candidates.filter((_, n) => answers[n]).map(bytesKey));
}

/** Only a directory that is also below can be opaque; whatever is under a new one is new as well. */
async function findShared(
  upper: string,
  lowers: readonly Layer[],
  at: Buffer,
  found: Buffer[],
  breather: Breather,
): Promise<void> {
  for (const entry of await readdir(join(upper, at), { encoding: 'buffer', withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    await breather.breathe();
    const path = join(at, entry.name);
    if (bytesKey(path) === '.git' || lookup(lowers, path)?.stat.isDirectory() !== true) continue;
    found.push(path);
    await findShared(upper, lowers, path, found, breather);
  }
}

async function askTar(upper: string, directories: Buffer[]): Promise<Set<string>> {
  const tar = await capture(
    [
      'tar',
      '-cf',
      '-',
      '--format=posix',
      '--no-recursion',
      '--xattrs',
      '--xattrs-include=user.overlay.*',
      '--null',
      '--verbatim-files-from',
      '-T',
      '-',
    ],
    {
      cwd: upper,
      input: Buffer.concat(
        directories.flatMap((directory) => [Buffer.from('./'), directory, Buffer.from([0])]),
      ),
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' },
    },
  );
  if (tar.code !== 0) {
    throw new BosunError(
      'system',
      `cannot read the attributes of ${upper} with tar: ${tar.stderr.trim().slice(0, 500)}`,
    );
  }
  return readOpaque(tar.stdout);
}

/** An extended header (`x`) tells of the entry whose header comes next. */
function readOpaque(archive: Buffer): Set<string> {
  const opaque = new Set<string>();
  let extended = new Map<string, string>();
  for (let at = 0; at + BLOCK_BYTES <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header[0] === 0) break;
    const size = Number.parseInt(text(header, 124, 12), 8) || 0;
    at += BLOCK_BYTES;
    if (header[156] === 0x78) {
      extended = readRecords(archive.subarray(at, at + size).toString('latin1'));
    } else {
      const prefix = text(header, 345, 155);
      const name = extended.get('path') ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
      if (extended.get(ATTRIBUTE) === 'y') opaque.add(name.replace(/^\.\//, '').replace(/\/+$/, ''));
      extended = new Map();
    }
    at += Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return opaque;
}

/** `<length> <key>=<value>\n`, where length counts all of it. */
function readRecords(data: string): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < data.length;) {
    const length = Number.parseInt(data.slice(at), 10);
    if (!(length > 0)) break;
    const record = data.slice(data.indexOf(' ', at) + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function text(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('latin1');
}
