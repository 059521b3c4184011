/** Whether two files are the same to git: their bytes, and whether they can be run. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Breather } from '../base/breather.ts';
import type { StackEntry } from './stack.ts';

const PIECE_BYTES = 1024 * 1024;
const RUNNABLE = 0o100n;

type File = Pick<StackEntry, 'stat' | 'source'>;

export async function isSameFile(a: File, b: File): Promise<boolean> {
  if (!a.stat.isFile() || !b.stat.isFile() || a.stat.size !== b.stat.size) return false;
  if ((a.stat.mode & RUNNABLE) !== (b.stat.mode & RUNNABLE)) return false;
  try {
    return await hasSameBytes(a.source, b.source, Number(a.stat.size));
  } catch {
    return false; // what cannot be read is looked at when it is collected
  }
}

async function hasSameBytes(a: Buffer, b: Buffer, size: number): Promise<boolean> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const breather = new Breather();
  const first = openSync(a, flags);
  try {
    const second = openSync(b, flags);
    try {
      const pieces = [
        Buffer.allocUnsafe(Math.min(size, PIECE_BYTES)),
        Buffer.allocUnsafe(Math.min(size, PIECE_BYTES)),
      ] as const;
      for (let left = size; left > 0;) {
        const length = Math.min(left, PIECE_BYTES);
        if (readSync(first, pieces[0], 0, length, null) !== length) return false;
        if (readSync(second, pieces[1], 0, length, null) !== length) return false;
        if (!pieces[0].subarray(0, length).equals(pieces[1].subarray(0, length))) return false;
        left -= length;
        await breather.breathe(); // a large file must not hold up everything else
      }
      return true;
    } finally {
      closeSync(second);
    }
  } finally {
    closeSync(first);
  }
}
