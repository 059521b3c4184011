/**
 * Holds the memory of one sandbox against its limit: cheap figures of all its processes each time, dear ones only of
 * those that could make the difference, and for a moment at a time. It tells; it ends nothing.
 *
 * What is known of a process is a range. Unread, it takes anything up to its resident size and the largest page
 * tables it can have; read, it takes its fair share, and what it may have taken since. A fair share is true only
 * beside those of the same time, so too high a sum with earlier ones in it is read anew before it counts.
 */
import type { Buffers } from './buffers-used.ts';
import { mappedBytes, type MemoryFiles } from './memory-used.ts';
import { pageTableBytes, shareOf, type ProcessEntry } from './process-table.ts';

interface Reading {
  before: ProcessEntry;
  /** Its fair share of what it touches, and its page tables. */
  bytes: number;
  /** How much of that files in memory may be, which count already. */
  inFilesBytes: number;
  /** Whether that is what they are. */
  isExact: boolean;
}

interface Range {
  entry: ProcessEntry;
  leastBytes: number;
  mostBytes: number;
  /** What it has given back since it was read: others may have that now. */
  lessBytes: number;
  /** What reading it can tell; 0 where it is known. */
  unreadBytes: number;
}

interface Sum {
  leastBytes: number;
  mostBytes: number;
  /** How much of the most is there only because not all was read at once. */
  staleBytes: number;
}

export interface MemoryUse {
  usedBytes: number;
  /** How much of that pipes and sockets may hold. */
  buffersBytes: number;
  /** Else it takes more time to say, and `usedBytes` is what is allowed. */
  isKnown: boolean;
  /** There was time to read, should it have been needed. */
  hadTime: boolean;
}

/** A page of a table is for so many pages; reading a byte of one of them makes it. */
const PAGES_PER_TABLE = 512;
const PAGE_BYTES = 4096;
/** Who cannot be told from one that takes too much for so long, while it is read, counts at its most. */
const UNKNOWN_MS_MAX = 5000;

export class MemoryLook {
  #readings = new Map<number, Reading>();
  /** What was known before it was forgotten: says who is worth being read first. */
  #sharesThen = new Map<number, number>();
  /** What ended processes had: others may have it all now. */
  #goneBytes = 0;
  /** The sum was too high once, and all are read anew since. */
  #isSecond = false;
  /** When it was last looked at without a result, and how long that went on in looks that had time. */
  #unknownAtMs: number | undefined;
  #unknownMs = 0;

  /** `isTimeUp` is asked before each reading; `nowMs` is a clock that stands still while this process does not run. */
  take(
    tree: readonly ProcessEntry[],
    files: MemoryFiles,
    buffers: Buffers,
    limitBytes: number,
    nowMs: number,
    isTimeUp: () => boolean,
  ): MemoryUse {
    const cheapBytes = files.bytes + buffers.mostBytes + sumOf(tree, mostOf);
    if (cheapBytes <= limitBytes) {
      this.#forget();
      this.#sharesThen.clear();
      this.#settle();
      return { usedBytes: cheapBytes, buffersBytes: buffers.mostBytes, isKnown: true, hadTime: false };
    }
    this.#dropGone(tree);
    let hadTime = false;
    const isTimeOver = (): boolean => {
      const isUp = isTimeUp();
      hadTime ||= !isUp;
      return isUp;
    };
    const areEarlier = this.#readings.size > 0;
    const look = (): Sum => this.#read(tree, files, buffers, limitBytes, isTimeOver);
    let { leastBytes, mostBytes, staleBytes } = look();
    if (leastBytes > limitBytes && areEarlier && !this.#isSecond) {
      this.#forget();
      this.#isSecond = true;
      ({ leastBytes, mostBytes, staleBytes } = look());
    }
    if (leastBytes > limitBytes)
      return { usedBytes: leastBytes, buffersBytes: buffers.leastBytes, isKnown: true, hadTime };
    if (mostBytes <= limitBytes) {
      this.#settle();
      return { usedBytes: mostBytes, buffersBytes: buffers.mostBytes, isKnown: true, hadTime };
    }
    if (mostBytes - staleBytes <= limitBytes) this.#forget();
    if (hadTime) this.#unknownMs += nowMs - (this.#unknownAtMs ?? nowMs);
    this.#unknownAtMs = nowMs;
    if (this.#unknownMs > UNKNOWN_MS_MAX)
      return { usedBytes: mostBytes, buffersBytes: buffers.mostBytes, isKnown: true, hadTime };
    return { usedBytes: limitBytes, buffersBytes: buffers.mostBytes, isKnown: false, hadTime };
  }

  #settle(): void {
    this.#isSecond = false;
    this.#unknownAtMs = undefined;
    this.#unknownMs = 0;
  }

  #forget(): void {
    for (const [pid, { bytes }] of this.#readings) this.#sharesThen.set(pid, bytes);
    this.#readings = new Map();
    this.#goneBytes = 0;
  }

  #dropGone(tree: readonly ProcessEntry[]): void {
    const alive = new Map(tree.map((entry) => [entry.pid, entry.startTicks]));
    for (const [pid, { before, bytes }] of this.#readings) {
      if (alive.get(pid) === before.startTicks) continue;
      this.#readings.delete(pid);
      this.#goneBytes += bytes;
    }
  }

  /** Those that can tell most first, until it is clear on which side of the limit the sum is. */
  #read(
    tree: readonly ProcessEntry[],
    files: MemoryFiles,
    buffers: Buffers,
    limitBytes: number,
    isTimeUp: () => boolean,
  ): Sum {
    const worth = ({ entry, unreadBytes }: Range): number =>
      this.#readings.has(entry.pid) ? unreadBytes : (this.#sharesThen.get(entry.pid) ?? unreadBytes);
    const ranges = tree.map((entry) => this.#range(entry)).toSorted((a, b) => worth(b) - worth(a));
    const processes: Sum = {
      leastBytes: sumOf(ranges, (range) => range.leastBytes),
      mostBytes: this.#goneBytes + sumOf(ranges, (range) => range.mostBytes),
      staleBytes: this.#goneBytes + sumOf(ranges, (range) => range.lessBytes),
    };
    const sum = (): Sum => ({
      leastBytes: files.bytes + buffers.leastBytes + processes.leastBytes,
      mostBytes: files.bytes + buffers.mostBytes + processes.mostBytes,
      staleBytes: processes.staleBytes,
    });
    const mayRead = (): boolean => {
      const { leastBytes, mostBytes } = sum();
      return leastBytes <= limitBytes && mostBytes > limitBytes && !isTimeUp();
    };
    const update = (before: Range, reading: Reading): void => {
      this.#readings.set(before.entry.pid, reading);
      const after = this.#range(before.entry);
      processes.leastBytes += after.leastBytes - before.leastBytes;
      processes.mostBytes += after.mostBytes - before.mostBytes;
      processes.staleBytes += after.lessBytes - before.lessBytes;
      Object.assign(before, after);
    };
    for (const range of ranges) {
      if (!mayRead()) return sum();
      if (range.unreadBytes > 0) update(range, readingOf(range.entry, files));
    }
    if (mayRead()) buffers.look(isTimeUp);
    for (const range of ranges) {
      if (!mayRead()) return sum();
      const reading = this.#readings.get(range.entry.pid);
      if (reading === undefined || reading.isExact) continue;
      const inFilesBytes = mappedBytes(range.entry.reader, files.devices);
      update(range, { ...reading, inFilesBytes, isExact: true });
    }
    return sum();
  }

  #range(entry: ProcessEntry): Range {
    const reading = this.#readings.get(entry.pid);
    if (reading === undefined) {
      const mostBytes = mostOf(entry);
      return { entry, leastBytes: 0, mostBytes, lessBytes: 0, unreadBytes: mostBytes };
    }
    const { before, bytes, inFilesBytes, isExact } = reading;
    // A page that was shared becomes its own by a fault, which no resident size shows.
    const sinceBytes =
      Math.max(0, entry.rssBytes - before.rssBytes, (entry.faults - before.faults) * PAGE_BYTES) +
      Math.max(0, entry.mappedBytes - before.mappedBytes) / PAGES_PER_TABLE;
    const lessBytes = Math.max(0, bytes - mostOf(entry));
    return {
      entry,
      leastBytes: Math.max(0, bytes - lessBytes - inFilesBytes),
      lessBytes,
      mostBytes: bytes - (isExact ? inFilesBytes : 0) + sinceBytes,
      unreadBytes: sinceBytes,
    };
  }
}

function readingOf(entry: ProcessEntry, files: MemoryFiles): Reading {
  const share = shareOf(entry) ?? { bytes: entry.rssBytes, inMemoryFiles: entry.rssBytes };
  const inFilesBytes = files.bytes === 0 ? 0 : share.inMemoryFiles;
  const bytes = share.bytes + pageTableBytes(entry);
  return { before: entry, bytes, inFilesBytes, isExact: inFilesBytes === 0 };
}

function mostOf({ rssBytes, mappedBytes }: ProcessEntry): number {
  return rssBytes + mappedBytes / PAGES_PER_TABLE;
}

function sumOf<One>(list: readonly One[], figure: (one: One) => number): number {
  return list.reduce((sum, one) => sum + figure(one), 0);
}
