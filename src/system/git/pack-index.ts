/** The index that git looks objects up in: gitformat-pack(5), version 2. */
import { createHash } from 'node:crypto';
import type { ObjectFormat } from './repository.ts';

export interface PackedObject {
  id: string;
  /** Where in the pack it begins. */
  offset: number;
  /** Of its bytes as they stand in the pack. */
  crc: number;
}

const LARGE_OFFSET = 2 ** 31;

export function packIndexOf(
  objects: readonly PackedObject[],
  packChecksum: Buffer,
  hashName: ObjectFormat,
): Buffer {
  const sorted = objects.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const large = sorted.filter(({ offset }) => offset >= LARGE_OFFSET).map(({ offset }) => offset);
  const body = Buffer.concat([
    Buffer.from('\xfftOc\0\0\0\x02', 'latin1'),
    words(countsByFirstByte(sorted)),
    Buffer.from(sorted.map(({ id }) => id).join(''), 'hex'),
    words(sorted.map(({ crc }) => crc)),
    words(
      sorted.map(({ offset }) => (offset < LARGE_OFFSET ? offset : LARGE_OFFSET + large.indexOf(offset))),
    ),
    words(large.flatMap((offset) => [Math.floor(offset / 2 ** 32), offset % 2 ** 32])),
    packChecksum,
  ]);
  return Buffer.concat([body, createHash(hashName).update(body).digest()]);
}

/** For each first byte, how many ids begin with it or with a lower one. */
function countsByFirstByte(sorted: readonly PackedObject[]): number[] {
  const counts = Array.from({ length: 256 }, () => 0);
  for (const { id } of sorted) counts[Number.parseInt(id.slice(0, 2), 16)]! += 1;
  let sum = 0;
  return counts.map((count) => (sum += count));
}

function words(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * numbers.length);
  numbers.forEach((number, index) => bytes.writeUInt32BE(number, 4 * index));
  return bytes;
}
