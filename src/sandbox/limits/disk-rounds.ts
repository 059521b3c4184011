/** Looks at the disk use of all sandboxes in turn, for a small share of a core in total. It tells; it ends nothing. */
import { statfsSync, statSync } from 'node:fs';
import { awakeMs } from '../../base/awake.ts';
import type { Breach } from '../../system/process/fence.ts';
import {
  closedBreach,
  depthBreach,
  diskBreach,
  entriesBreach,
  freeFilesBreach,
  freeSpaceBreach,
  hiddenFilesBreach,
  hiddenProcessBreach,
} from './breach.ts';
import { measureDisk, type DiskUse } from './disk-used.ts';
import { heldFiles, isTmpfs, type HeldFiles } from './held-files.ts';
import { memoryFiles } from './memory-used.ts';
import { mostFiles } from './most-files.ts';
import { readProcess } from './process-table.ts';
import { Written } from './written.ts';

export interface DiskWatched {
  directories: string[];
  limitBytes: number | undefined;
  /** The processes that may hold files open. */
  pids(): readonly number[];
  /** The directories inside whose files lie in memory. */
  inMemory?: readonly string[];
  onBreach(breach: Breach): void;
}

interface Watched extends DiskWatched {
  device: number;
  dueAtMs: number;
  last?: DiskUse;
  /** Of its file system, when `last` was measured. */
  freeBytes: number;
  written: Written;
  /** It held files that nobody can look at when it was last looked at, and also the time before. */
  hadHidden: boolean;
  isHiding: boolean;
  /** Its layer is memory, of which the kernel does not say who wrote how much. */
  isInMemory: boolean;
  /** Since when each look found a closed directory, and a process that cannot be looked into: both may be so for a moment. */
  closedSinceMs: number | undefined;
  hiddenSinceMs: number | undefined;
}

/** What is left of a file system, and how fast it becomes less. */
interface Free {
  bytes: number;
  lossPerMs: number;
  /** Files that can still be made; without end where the file system does not count them. */
  files: number;
  filesMin: number;
  filesLossPerMs: number;
  atMs: number;
}

/** Share of a core that all walks together may take, over time. */
const SHARE = 0.05;
/** The same for walks that cannot wait, because the disk fills up. */
const URGENT_SHARE = 0.25;
/** Fewer bytes than this per file and the files themselves are the burden. */
const BYTES_PER_ENTRY = 4096;
const ENTRIES_MIN = 1024;
/** As fast as a disk can be filled; says how long a sandbox with room left may go unseen. */
const FILL_BYTES_PER_MS = (2 * 1024 ** 3) / 1000;
const FILL_ENTRIES_PER_MS = 200;
const UNSEEN_MS_MAX = 2000;
/** Who wrote less is not to blame for a full disk. */
const BLAME_BYTES_MIN = 16 * 1024 ** 2;
const BLAME_ENTRIES_MIN = 256;
/** So many files must stay possible, or this part of all on a small file system. */
const FILES_MIN = 16_384;
const FILES_SHARE_MIN = 1 / 16;
const BLAME_EVERY_MS = 1000;
/** How long something may stay closed: tests close directories for a moment, and some programs may be run and not read. */
const CLOSED_MS_MAX = 5000;
/** Who fills the disk is ended this long before too little is left: nothing is seen or ended at once. */
const AHEAD_MS = 400;

export class DiskRounds {
  readonly #freeBytesMin: number;
  readonly #recount: () => void;
  readonly #watched = new Set<Watched>();
  /** What may be spent on walks now; below 0 after a long one. */
  #creditMs = 0;
  #atMs = 0;
  #urgentAtMs = 0;
  /** By device, when somebody may next be blamed for its bytes, and for its files. */
  readonly #blameAtMs = new Map<number, number>();
  readonly #filesBlameAtMs = new Map<number, number>();
  readonly #free = new Map<number, Free>();
  #walking = false;

  /** `recount` brings the lists of processes up to date; called where somebody is about to be blamed. */
  constructor(freeBytesMin: number, recount: () => void = () => {}) {
    this.#freeBytesMin = freeBytesMin;
    this.#recount = recount;
  }

  add(what: DiskWatched): () => void {
    const watched: Watched = {
      ...what,
      device: deviceOf(what.directories[0]!),
      dueAtMs: 0,
      freeBytes: Infinity,
      written: new Written(),
      hadHidden: false,
      isHiding: false,
      isInMemory: what.directories.some(isTmpfs),
      closedSinceMs: undefined,
      hiddenSinceMs: undefined,
    };
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  /** Called often; `tickMs` is how often. */
  tick(nowMs: number, tickMs: number): void {
    this.#creditMs = Math.min(this.#creditMs + (nowMs - this.#atMs) * SHARE, tickMs * SHARE);
    this.#atMs = nowMs;
    // Also while something is walked through, which may take longer than it takes to fill a disk.
    const free = this.#freeBytes(nowMs);
    this.#blame(nowMs);
    if (!this.#walking) void this.#round(nowMs, free);
  }

  async #round(nowMs: number, free: Map<number, number>): Promise<void> {
    this.#walking = true;
    try {
      for (;;) {
        const next = this.#choose(nowMs, free);
        if (next === undefined) break;
        await this.#look(next, free.get(next.device) ?? Infinity);
      }
    } finally {
      this.#walking = false;
    }
  }

  /** The one that may have used up its room by now, else the one that waits longest. */
  #choose(nowMs: number, free: Map<number, number>): Watched | undefined {
    const isUrgent = nowMs >= this.#urgentAtMs;
    let longest: Watched | undefined;
    let isAnyFull = false;
    for (const one of this.#watched) {
      const freeBytes = free.get(one.device) ?? Infinity;
      const isFull = this.#isFull(one.device);
      if (one.limitBytes === undefined && !isFull) continue;
      if (isUrgent && one.freeBytes - freeBytes > roomBytes(one)) return one;
      if (one.dueAtMs > nowMs) continue;
      isAnyFull ||= isFull;
      if (longest === undefined || one.dueAtMs < longest.dueAtMs) longest = one;
    }
    // Whose fault a full disk is cannot wait until there is time to spare.
    return this.#creditMs > 0 || (isAnyFull && isUrgent) ? longest : undefined;
  }

  async #look(one: Watched, freeBytes: number): Promise<void> {
    const { use, tookMs } = await measureDisk(
      one.directories,
      (use) => !this.#watched.has(one) || breachOf(one, use) !== undefined,
    );
    if (!this.#watched.has(one)) return;
    const pids = one.pids();
    const held = await heldBy(one, pids);
    if (!this.#watched.has(one)) return;
    use.bytes += held.bytes;
    use.entries += held.entries;
    // What is under way is received in no time; who leaves it there hides it, and then all that it ever wrote counts.
    one.isHiding = held.hasHidden && one.hadHidden;
    if (one.isHiding) use.bytes = Math.max(use.bytes, one.written.count(pids));
    one.hadHidden = held.hasHidden;
    const awake = awakeMs();
    one.closedSinceMs = use.isClosed ? (one.closedSinceMs ?? awake) : undefined;
    one.hiddenSinceMs = held.hasHiddenProcess ? (one.hiddenSinceMs ?? awake) : undefined;
    const nowMs = performance.now();
    const costMs = tookMs + held.tookMs;
    this.#creditMs -= costMs;
    this.#urgentAtMs = nowMs + costMs / URGENT_SHARE;
    one.last = use;
    one.freeBytes = freeBytes;
    const breach = breachOf(one, use) ?? unseenBreachOf(one, awake);
    if (breach !== undefined) return this.#end(one, breach);
    const room = Math.min(
      roomBytes(one) / FILL_BYTES_PER_MS,
      (entriesMax(one) - use.entries) / FILL_ENTRIES_PER_MS,
    );
    one.dueAtMs = nowMs + Math.min(room, UNSEEN_MS_MAX);
  }

  /** With the disk all but full, or about to be, the one that took most is ended; the others go on. */
  #blame(nowMs: number): void {
    for (const device of this.#free.keys()) {
      if (this.#isFull(device)) this.#blameForBytes(device, nowMs);
      if (this.#hasFewFiles(device) && nowMs >= (this.#filesBlameAtMs.get(device) ?? 0))
        void this.#blameForFiles(device);
    }
  }

  #blameForBytes(device: number, nowMs: number): void {
    if (nowMs < (this.#blameAtMs.get(device) ?? 0)) return;
    this.#recount();
    const sharing = this.#sharing(device);
    const hiding = sharing.find(hidesAll);
    if (hiding !== undefined) {
      this.#blameAtMs.set(device, nowMs + BLAME_EVERY_MS);
      return this.#end(hiding, hiddenFilesBreach());
    }
    const [most] = sharing
      // What was written counts even where nothing of it can be found: there is no time to look for it.
      .map((one) => ({ one, usedBytes: Math.max(usedBytes(one), one.written.count(one.pids())) }))
      .toSorted((a, b) => b.usedBytes - a.usedBytes);
    if (most === undefined || most.usedBytes < BLAME_BYTES_MIN) return;
    this.#blameAtMs.set(device, nowMs + BLAME_EVERY_MS);
    this.#filesBlameAtMs.set(device, nowMs + BLAME_EVERY_MS); // they go with it
    this.#end(most.one, freeSpaceBreach(most.usedBytes, this.#free.get(device)!.bytes, this.#freeBytesMin));
  }

  /** Nobody's files are known until they are counted, and those of one alone say nothing. */
  async #blameForFiles(device: number): Promise<void> {
    this.#filesBlameAtMs.set(device, Infinity);
    const fromMs = performance.now();
    this.#recount();
    const most = await mostFiles(
      this.#sharing(device),
      async (one) => (await heldBy(one)).entries,
      (one) => !this.#watched.has(one),
    );
    const nowMs = performance.now();
    const nextAtMs = nowMs + Math.max(BLAME_EVERY_MS, (nowMs - fromMs) / URGENT_SHARE);
    this.#filesBlameAtMs.set(device, Math.max(nextAtMs, this.#blameAtMs.get(device) ?? 0));
    const free = this.#free.get(device);
    if (free === undefined || !this.#hasFewFiles(device)) return;
    if (most === undefined || !this.#watched.has(most.owner)) return;
    if (most.isClosed) return this.#end(most.owner, closedBreach());
    if (most.entries < BLAME_ENTRIES_MIN) return;
    this.#end(most.owner, freeFilesBreach(most.entries, free.files, free.filesMin));
  }

  #sharing(device: number): Watched[] {
    return [...this.#watched].filter((one) => one.device === device);
  }

  #hasFewFiles(device: number): boolean {
    const free = this.#free.get(device);
    if (free === undefined) return false;
    return free.files - Math.min(free.filesLossPerMs * AHEAD_MS, free.filesMin) < free.filesMin;
  }

  #isFull(device: number): boolean {
    const free = this.#free.get(device);
    if (free === undefined) return false;
    const soonBytes = free.bytes - Math.min(free.lossPerMs * AHEAD_MS, this.#freeBytesMin);
    return soonBytes < this.#freeBytesMin;
  }

  #end(one: Watched, breach: Breach): void {
    this.#watched.delete(one);
    one.onBreach(breach);
  }

  #freeBytes(atMs: number): Map<number, number> {
    const free = new Map<number, number>();
    for (const one of this.#watched) {
      if (free.has(one.device)) continue;
      try {
        const { bavail, bsize, files: filesMax, ffree } = statfsSync(one.directories[0]!);
        const bytes = bavail * bsize;
        const files = filesMax > 0 ? ffree : Infinity;
        free.set(one.device, bytes);
        const before = this.#free.get(one.device) ?? { bytes, files, atMs: atMs - 1 };
        const passedMs = Math.max(1, atMs - before.atMs);
        this.#free.set(one.device, {
          bytes,
          lossPerMs: Math.max(0, before.bytes - bytes) / passedMs,
          files,
          filesMin: Math.min(FILES_MIN, Math.floor(filesMax * FILES_SHARE_MIN)),
          filesLossPerMs: files === Infinity ? 0 : Math.max(0, before.files - files) / passedMs,
          atMs,
        });
      } catch {
        // the layer is gone: its sandbox is about to be let go
      }
    }
    for (const device of this.#free.keys()) if (!free.has(device)) this.#free.delete(device);
    return free;
  }
}

async function heldBy(one: Watched, pids = one.pids()): Promise<HeldFiles> {
  const { devices } = memoryFiles(readProcess(pids[0] ?? 0)?.reader ?? 0, one.inMemory ?? []);
  return heldFiles(pids, new Set(one.directories.map(deviceOf)), devices);
}

function breachOf(one: Watched, use: DiskUse): Breach | undefined {
  if (one.limitBytes === undefined) return undefined;
  if (hidesAll(one)) return hiddenFilesBreach();
  if (use.bytes > one.limitBytes) return diskBreach(use.bytes, one.limitBytes);
  if (use.entries > entriesMax(one)) return entriesBreach(use.entries, entriesMax(one), one.limitBytes);
  return use.tooDeep ? depthBreach() : undefined;
}

function unseenBreachOf(
  { limitBytes, closedSinceMs, hiddenSinceMs }: Watched,
  awake: number,
): Breach | undefined {
  if (limitBytes === undefined) return undefined;
  if (awake - (closedSinceMs ?? awake) >= CLOSED_MS_MAX) return closedBreach();
  return awake - (hiddenSinceMs ?? awake) >= CLOSED_MS_MAX ? hiddenProcessBreach() : undefined;
}

/** What is in files that cannot be looked at is not known in any other way either. */
function hidesAll({ isHiding, isInMemory }: Watched): boolean {
  return isHiding && isInMemory;
}

function entriesMax({ limitBytes = Infinity }: Watched): number {
  return Math.max(ENTRIES_MIN, Math.floor(limitBytes / BYTES_PER_ENTRY));
}

function roomBytes(one: Watched): number {
  return Math.max(0, (one.limitBytes ?? Infinity) - usedBytes(one));
}

function usedBytes(one: Watched): number {
  return one.last?.bytes ?? 0;
}

function deviceOf(directory: string): number {
  try {
    return statSync(directory).dev;
  } catch {
    return -1; // not there yet: it shares no figure with anyone
  }
}
