/**
 * The disk that deleted files take while processes still hold them, open or mapped: no walk through directories finds
 * them. Descriptors that are under way from one process to another nobody can look at; it only tells that there are some.
 */
import {
  existsSync,
  opendirSync,
  readFileSync,
  statfsSync,
  statSync,
  type BigIntStats,
  type Dir,
} from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beginningOf } from './beginning-of.ts';
import { readProcess } from './process-table.ts';

export interface HeldFiles {
  bytes: number;
  /** How many there are: each takes an inode. */
  entries: number;
  /** There are files that cannot be looked at: sent and not received, mapped only, or more than are looked at. */
  hasHidden: boolean;
  /** There is a process that lives and cannot be looked into. */
  hasHiddenProcess: boolean;
  tookMs: number;
}

/** Files in memory are on no disk: those of the sandbox's own tmpfs are counted as memory. */
const TMPFS_MAGIC = 0x01021994;
/** Descriptors that are looked at in one go, and the longest time until others have their turn. */
const DESCRIPTORS_MAX = 65_536;
const SLICE_MS = 3;
/** Of a list of mappings; of a longer one no more is read. */
const MAPS_CHARS_MAX = 1024 ** 2;

/**
 * A layer may itself lie in memory: `layerDevices` are those of the directories that are measured. `memoryDevices` are
 * those of the sandbox's own file systems in memory, as a list of mappings names them.
 */
export async function heldFiles(
  pids: readonly number[],
  layerDevices: ReadonlySet<number>,
  memoryDevices: ReadonlySet<string>,
): Promise<HeldFiles> {
  const seen = new Set<string>();
  const held: HeldFiles = { bytes: 0, entries: 0, hasHidden: false, hasHiddenProcess: false, tookMs: 0 };
  let left = DESCRIPTORS_MAX;
  let sinceMs = performance.now();
  const count = (file: string, stat: BigIntStats | undefined): void => {
    if (stat === undefined) return;
    const key = `${stat.dev}:${stat.ino}`;
    if (seen.has(key) || (!layerDevices.has(Number(stat.dev)) && isTmpfs(file))) return;
    seen.add(key);
    held.entries += 1;
    held.bytes += Number(stat.blocks) * 512;
  };
  const letOthers = async (): Promise<void> => {
    if (performance.now() - sinceMs < SLICE_MS) return;
    held.tookMs += performance.now() - sinceMs;
    await setImmediate();
    sinceMs = performance.now();
  };
  for (const pid of pids) {
    await letOthers();
    using descriptors = openDescriptors(pid);
    const { reader, isHidden } = descriptors;
    if (isHidden) held.hasHiddenProcess = true;
    for (const name of left < 0 ? [] : descriptors.names()) {
      if ((left -= 1) < 0) break;
      const file = `/proc/${reader}/fd/${name}`;
      const stat = statOf(file);
      if (stat?.isSocket()) held.hasHidden ||= filesUnderWay(`/proc/${reader}/fdinfo/${name}`) > 0;
      else count(file, deleted(stat));
      await letOthers();
    }
    const ranges = left < 0 ? undefined : deletedMappings(reader, memoryDevices);
    if (ranges === undefined) held.hasHidden = true;
    for (const range of ranges ?? []) {
      const file = `/proc/${reader}/map_files/${range}`;
      const stat = statOf(file); // only root may look
      if (stat !== undefined) count(file, deleted(stat));
      else held.hasHidden = true;
      await letOthers();
    }
    // A thread through which it was read, and which ended meanwhile, may have shown nothing.
    if (reader !== pid && !existsSync(`/proc/${reader}`)) held.hasHiddenProcess = true;
  }
  held.tookMs += performance.now() - sinceMs;
  return held;
}

/** How often a process is tried whose threads end while they are looked at. */
const TRIES_MAX = 3;

/** Of one process, listed only as far as they are asked for: a process may have a million. */
export class Descriptors implements Disposable {
  /** The thread to look through. */
  readonly reader: number;
  /** It lives and may not be looked into. */
  readonly isHidden: boolean;
  readonly #directory: Dir | undefined;

  constructor(reader: number, directory: Dir | 'none' | 'hidden') {
    this.reader = reader;
    this.isHidden = directory === 'hidden';
    this.#directory = typeof directory === 'object' ? directory : undefined;
  }

  *names(): Iterable<string> {
    for (let name = this.next(); name !== undefined; name = this.next()) yield name;
  }

  next(): string | undefined {
    try {
      return this.#directory?.readSync()?.name;
    } catch {
      return undefined; // it ended meanwhile
    }
  }

  [Symbol.dispose](): void {
    this.#directory?.closeSync();
  }
}

/** None of a process that has ended. */
export function openDescriptors(pid: number): Descriptors {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { reader = pid, mappedBytes = 0, isHidden = false } = readProcess(pid) ?? {};
    if (mappedBytes === 0 && !isHidden) return new Descriptors(reader, 'none');
    try {
      return new Descriptors(reader, opendirSync(`/proc/${reader}/fd`, { bufferSize: 128 }));
    } catch {
      // it ended meanwhile, or is closed to us
    }
  }
  return new Descriptors(pid, 'hidden');
}

function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined; // closed meanwhile, or not ours to look at
  }
}

function deleted(stat: BigIntStats | undefined): BigIntStats | undefined {
  return stat?.isFile() && stat.nlink === 0n ? stat : undefined;
}

/** How many were sent over a unix socket and wait to be received; known since Linux 5.6. */
export function filesUnderWay(file: string): number {
  return Number(/^scm_fds:\s*(\d+)/m.exec(textOf(file))?.[1] ?? 0);
}

/**
 * Not what is shared memory of some kind, which is counted where memory is. It has no place in any directory; a file
 * may have the same name, but is on another device than the first that a kernel makes.
 */
const IN_MEMORY = /^00:0\S \d+\s+\/(?:SYSV|dev\/zero |memfd:)/;

/** One mapping of each file that it may have written; undefined where there are too many to look for them. */
function deletedMappings(pid: number, memoryDevices: ReadonlySet<string>): string[] | undefined {
  const text = beginningOf(`/proc/${pid}/maps`, MAPS_CHARS_MAX);
  if (text.length > MAPS_CHARS_MAX) return undefined;
  if (!text.includes(' (deleted)\n')) return [];
  const found = new Map<string, string>();
  const isReadOnly = readOnlyPlaces(pid);
  for (const line of text.split('\n')) {
    const [, range, file, device, inode, name] =
      /^([0-9a-f]+-[0-9a-f]+) \S+ [0-9a-f]+ ((\S+) (\d+)\s+(.*) \(deleted\))$/.exec(line) ?? [];
    if (file === undefined || memoryDevices.has(device!) || IN_MEMORY.test(file)) continue;
    if (!isReadOnly(name!)) found.set(`${device} ${inode}`, range!);
  }
  return [...found.values()];
}

/**
 * Tells whether a process may only read where a file lay. Then it did not write it: somebody outside replaced a library,
 * say. Only for what is mounted below `/`: a name that leads from nowhere begins there, too.
 */
function readOnlyPlaces(pid: number): (file: string) => boolean {
  const isReadOnlyAt = new Map<string, boolean>();
  for (const line of textOf(`/proc/${pid}/mountinfo`).split('\n')) {
    const [, , , , at, options] = line.split(' ');
    if (at === undefined || options === undefined) continue;
    const name = at.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(parseInt(octal, 8)),
    );
    isReadOnlyAt.set(name, options.split(',').includes('ro'));
  }
  return (file) => {
    for (let at = file; at.length > 1; at = path.dirname(at)) {
      const isReadOnly = isReadOnlyAt.get(at);
      if (isReadOnly !== undefined) return isReadOnly;
    }
    return false;
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

export function isTmpfs(file: string): boolean {
  try {
    return statfsSync(file).type === TMPFS_MAGIC;
  } catch {
    return true; // gone meanwhile
  }
}
