/** Reads the first part of a file of /proc, which the kernel writes while it is read: the rest of a long one is never made. */
import { closeSync, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 64 * 1024;
const piece = Buffer.alloc(PIECE_BYTES);

/** A piece more than `bytesMax` at most; nothing of what is gone. */
export function beginningOf(file: string, bytesMax: number): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const parts: string[] = [];
    for (let bytes = 0, count = -1; bytes <= bytesMax && count !== 0; bytes += count) {
      count = readSync(fd, piece);
      parts.push(piece.toString('latin1', 0, count));
    }
    return parts.join('');
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
