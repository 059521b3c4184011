/**
 * A file that only takes up space: removed where a disk is full, it gives what cleaning needs to begin. It is no
 * promise: whatever else writes to that disk may be faster.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const RESERVE_BYTES = 2 * 1024 ** 2;
/** Where less is free, two megabytes are better used for work. */
const FREE_BYTES_MIN = 64 * 1024 ** 2;

function reserveFile(state: string): string {
  return path.join(state, 'reserve');
}

/** Where there is none, and space enough. Nothing depends on it. */
export function makeReserve(state: string): void {
  const file = reserveFile(state);
  try {
    if (existsSync(file) || freeBytes(state) < FREE_BYTES_MIN) return;
    // No file system can store these in less.
    writeFileSync(file, randomBytes(RESERVE_BYTES), { flag: 'wx', mode: 0o600 });
  } catch {
    rmSync(file, { force: true });
  }
}

/** For commands that free more than they write, once it is known that the directory is ours. A link goes, not what it leads to. */
export function releaseReserve(state: string): void {
  if (freeBytes(state) >= RESERVE_BYTES) return;
  try {
    unlinkSync(reserveFile(state));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** What an ordinary user may still write. */
function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
