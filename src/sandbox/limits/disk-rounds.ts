/** Looks at the disk use of all sandboxes in turn, for a small share of a core in total. It tells; it ends nothing. */
import { statfsSync, statSync } from 'node:fs';
import type { Breach } from '../../system/fence.ts';
import { depthBreach, diskBreach, entriesBreach, freeSpaceBreach } from './breach.ts';
import { measureDisk, type DiskUse } from './disk-used.ts';
import { heldBytes } from './held-files.ts';

export interface DiskWatched {
  directories: string[];
  limitBytes: number | undefined;
  /** The processes that may hold files open. */
  pids(): readonly number[];
  onBreach(breach: Breach): void;
}

interface Watched extends DiskWatched {
  device: number;
  dueAtMs: number;
  last?: DiskUse;
  /** Of its file system, when `last` was measured. */
  freeBytes: number;
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
const BLAME_EVERY_MS = 1000;

export class DiskRounds {
  readonly #freeBytesMin: number;
  readonly #watched = new Set<Watched>();
  /** What may be spent on walks now; below 0 after a long one. */
  #creditMs = 0;
  #atMs = 0;
  #urgentAtMs = 0;
  #blameAtMs = 0;
  #walking = false;

  constructor(freeBytesMin: number) {
    this.#freeBytesMin = freeBytesMin;
  }

  add(what: DiskWatched): () => void {
    const watched: Watched = {
      ...what,
      device: deviceOf(what.directories[0]!),
      dueAtMs: 0,
      freeBytes: Infinity,
    };
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  /** Called often; `tickMs` is how often. */
  tick(nowMs: number, tickMs: number): void {
    this.#creditMs = Math.min(this.#creditMs + (nowMs - this.#atMs) * SHARE, tickMs * SHARE);
    this.#atMs = nowMs;
    if (!this.#walking) void this.#round(nowMs);
  }

  async #round(nowMs: number): Promise<void> {
    this.#walking = true;
    try {
      const free = this.#freeBytes();
      for (;;) {
        const next = this.#choose(nowMs, free);
        if (next === undefined) break;
        await this.#look(next, free.get(next.device) ?? Infinity);
      }
      this.#blame(nowMs, free);
    } finally {
      this.#walking = false;
    }
  }

  /** The one that may have used up its room by now, else the one that waits longest. */
  #choose(nowMs: number, free: Map<number, number>): Watched | undefined {
    let longest: Watched | undefined;
    for (const one of this.#watched) {
      const freeBytes = free.get(one.device) ?? Infinity;
      if (one.limitBytes === undefined && freeBytes >= this.#freeBytesMin) continue;
      if (nowMs >= this.#urgentAtMs && one.freeBytes - freeBytes > roomBytes(one)) return one;
      if (one.dueAtMs <= nowMs && (longest === undefined || one.dueAtMs < longest.dueAtMs)) longest = one;
    }
    return this.#creditMs > 0 ? longest : undefined;
  }

  async #look(one: Watched, freeBytes: number): Promise<void> {
    const { use, tookMs } = await measureDisk(
      one.directories,
      (use) => !this.#watched.has(one) || breachOf(one, use) !== undefined,
    );
    if (!this.#watched.has(one)) return;
    const heldFromMs = performance.now();
    use.bytes += heldBytes(one.pids(), new Set(one.directories.map(deviceOf)));
    const nowMs = performance.now();
    const costMs = tookMs + nowMs - heldFromMs;
    this.#creditMs -= costMs;
    this.#urgentAtMs = nowMs + costMs / URGENT_SHARE;
    one.last = use;
    one.freeBytes = freeBytes;
    const breach = breachOf(one, use);
    if (breach !== undefined) return this.#end(one, breach);
    const room = Math.min(
      roomBytes(one) / FILL_BYTES_PER_MS,
      (entriesMax(one) - use.entries) / FILL_ENTRIES_PER_MS,
    );
    one.dueAtMs = nowMs + Math.min(room, UNSEEN_MS_MAX);
  }

  /** With the disk all but full, the one that wrote most is ended; the others go on. */
  #blame(nowMs: number, free: Map<number, number>): void {
    for (const [device, freeBytes] of free) {
      if (freeBytes >= this.#freeBytesMin || nowMs < this.#blameAtMs) continue;
      const most = [...this.#watched]
        .filter((one) => one.device === device)
        .toSorted((a, b) => usedBytes(b) - usedBytes(a))[0];
      if (most === undefined || usedBytes(most) < BLAME_BYTES_MIN) continue;
      this.#blameAtMs = nowMs + BLAME_EVERY_MS;
      this.#end(most, freeSpaceBreach(usedBytes(most), freeBytes, this.#freeBytesMin));
    }
  }

  #end(one: Watched, breach: Breach): void {
    this.#watched.delete(one);
    one.onBreach(breach);
  }

  #freeBytes(): Map<number, number> {
    const free = new Map<number, number>();
    for (const one of this.#watched) {
      if (free.has(one.device)) continue;
      try {
        const { bavail, bsize } = statfsSync(one.directories[0]!);
        free.set(one.device, bavail * bsize);
      } catch {
        // the layer is gone: its sandbox is about to be let go
      }
    }
    return free;
  }
}

function breachOf(one: Watched, use: DiskUse): Breach | undefined {
  if (one.limitBytes === undefined) return undefined;
  if (use.bytes > one.limitBytes) return diskBreach(use.bytes, one.limitBytes);
  if (use.entries > entriesMax(one)) return entriesBreach(use.entries, entriesMax(one), one.limitBytes);
  return use.tooDeep ? depthBreach() : undefined;
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
