/** The files of a sandbox that lie in memory, and who has mapped how much of them. It never changes anything. */
import { statfsSync, statSync } from 'node:fs';
import { beginningOf } from './beginning-of.ts';

/** What the kernel itself needs for a file in memory, however small. */
const INODE_BYTES = 1024;
/** Some 3,000 mappings; of a process with more, what comes after them counts as if it were no file. */
const SMAPS_BYTES_MAX = 2 * 1024 * 1024;

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

/** The share of a process in what it has mapped of these file systems. */
export function mappedBytes(pid: number, devices: ReadonlySet<string>): number {
  const text = beginningOf(`/proc/${pid}/smaps`, SMAPS_BYTES_MAX);
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
