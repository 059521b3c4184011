/** How much disk directories take, measured in slices so that nothing else waits long. It never changes anything. */
import { lstatSync, opendirSync, type BigIntStats, type Dir } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

export interface DiskUse {
  bytes: number;
  /** Files and directories: each takes an inode. */
  entries: number;
  /** Directories lie so deep that no path leads there. */
  tooDeep: boolean;
  /** A directory is closed to us by its mode; root may look into all of them. */
  isClosed: boolean;
}

/** Longest time in one go. */
const SLICE_MS = 3;

/** `enough` is asked now and then: where it says so, the walk ends with what it has seen. */
export async function measureDisk(
  directories: string[],
  enough: (use: DiskUse) => boolean,
): Promise<{ use: DiskUse; tookMs: number }> {
  const use: DiskUse = { bytes: 0, entries: 0, tooDeep: false, isClosed: false };
  const linked = new Set<string>();
  // Names are bytes to the kernel, and latin1 is the text that keeps them all.
  const left = directories.map((directory) => Buffer.from(directory).toString('latin1'));
  let tookMs = 0;
  let sinceMs = performance.now();
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const directory = open(at, use);
    if (directory === undefined) continue;
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const file = `${at}/${entry.name}`;
        count(file, use, linked);
        if (entry.isDirectory()) left.push(file);
        if (use.entries % 64 !== 0 || performance.now() - sinceMs < SLICE_MS) continue;
        tookMs += performance.now() - sinceMs;
        if (enough(use)) return { use, tookMs };
        await setImmediate();
        sinceMs = performance.now();
      }
    } finally {
      directory.closeSync();
    }
    if (enough(use)) break;
  }
  return { use, tookMs: tookMs + performance.now() - sinceMs };
}

function count(file: string, use: DiskUse, linked: Set<string>): void {
  let stat: BigIntStats;
  try {
    stat = lstatSync(Buffer.from(file, 'latin1'), { bigint: true });
  } catch (error) {
    note(error, use);
    return; // removed meanwhile
  }
  if (stat.nlink > 1n && !stat.isDirectory()) {
    const key = `${stat.dev}:${stat.ino}`;
    if (linked.has(key)) return;
    linked.add(key);
  }
  use.entries += 1;
  use.bytes += Number(stat.blocks) * 512; // what it takes: a file with holes may look far bigger
}

function open(directory: string, use: DiskUse): Dir | undefined {
  try {
    return opendirSync(Buffer.from(directory, 'latin1'), { encoding: 'latin1', bufferSize: 128 });
  } catch (error) {
    note(error, use);
    return undefined; // removed meanwhile
  }
}

/** What is there and cannot be measured. */
function note(error: unknown, use: DiskUse): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENAMETOOLONG') use.tooDeep = true;
  if (code === 'EACCES') use.isClosed = true;
}
