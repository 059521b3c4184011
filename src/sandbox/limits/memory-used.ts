/** How much memory a sandbox takes: its processes, and its files that lie in memory. It never changes anything. */
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { pageTableBytes, pssBytes, type ProcessEntry } from './process-table.ts';

/** What the kernel itself needs for a file in memory, however small. */
const INODE_BYTES = 1024;
/** A page of a table is for so many pages; reading a byte of one of them makes it. */
const PAGES_PER_TABLE = 512;

/** Files in memory are on nobody's account: `directories` are where they lie, as the process `initPid` sees them. */
export interface MemoryFiles {
  bytes: number;
  /** Of the file systems, as a list of mappings names them. */
  devices: Set<string>;
}

export function memoryFiles(initPid: number, directories: readonly string[]): MemoryFiles {
  const files: MemoryFiles = { bytes: 0, devices: new Set() };
  for (const directory of directories) {
    const at = `/proc/${initPid}/root${directory}`;
    try {
      const { dev } = statSync(at);
      const device = deviceName(dev);
      // A sandbox that is still being made shows the machine's own.
      if (files.devices.has(device) || dev === machineDevice(directory)) continue;
      files.devices.add(device);
      const { blocks, bfree, bsize, files: inodes, ffree } = statfsSync(at);
      files.bytes += (blocks - bfree) * bsize + (inodes - ffree) * INODE_BYTES;
    } catch {
      // its sandbox has ended
    }
  }
  return files;
}

/**
 * The sum of resident sizes is cheap and counts shared pages again and again; the fair shares are dear and right. To
 * be called where the cheap sum is too high. A file in memory that is also mapped counts once.
 */
export function fairlyUsed(tree: ProcessEntry[], files: MemoryFiles, limitBytes: number): number {
  let usedBytes = files.bytes;
  for (const { pid, rssBytes } of tree.toSorted((a, b) => b.rssBytes - a.rssBytes)) {
    usedBytes += pssBytes(pid) ?? rssBytes;
    if (usedBytes - files.bytes > limitBytes) return usedBytes - files.bytes;
  }
  if (usedBytes <= limitBytes || files.bytes === 0) return usedBytes;
  for (const { pid } of tree) usedBytes -= mappedBytes(pid, files.devices);
  return usedBytes;
}

/** All page tables of a sandbox; 0 where they cannot take the room that is left. */
export function tablesBytes(tree: ProcessEntry[], roomBytes: number): number {
  const mappedBytes = tree.reduce((sum, entry) => sum + entry.mappedBytes, 0);
  if (mappedBytes / PAGES_PER_TABLE <= roomBytes) return 0;
  return tree.reduce((sum, { pid }) => sum + pageTableBytes(pid), 0);
}

/** The share of a process in what it has mapped of these file systems. */
function mappedBytes(pid: number, devices: ReadonlySet<string>): number {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps`, 'latin1');
  } catch {
    return 0; // gone
  }
  let bytes = 0;
  let isAmong = false;
  for (const line of text.split('\n')) {
    const [, device] = /^[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+:[0-9a-f]+) /.exec(line) ?? [];
    if (device !== undefined) isAmong = devices.has(device);
    else if (isAmong && line.startsWith('Pss:')) bytes += Number(/\d+/.exec(line)) * 1024;
  }
  return bytes;
}

function machineDevice(directory: string): number | undefined {
  return statSync(directory, { throwIfNoEntry: false })?.dev;
}

function deviceName(device: number): string {
  const hex = (value: number): string => value.toString(16).padStart(2, '0');
  return `${hex((device >> 8) & 0xfff)}:${hex((device & 0xff) | ((device >> 12) & 0xfff00))}`;
}
