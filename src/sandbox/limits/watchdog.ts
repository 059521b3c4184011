/**
 * Ends sandboxes that use more than they may, for what the kernel does not hold here. One for the whole engine,
 * with one timer. It never judges what a command does, only how much it uses.
 */
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { awakeMs } from '../../base/awake.ts';
import type { Breach, FenceLimits } from '../../system/process/fence.ts';
import { hiddenMemoryBreach, memoryBreach, processesBreach } from './breach.ts';
import { CpuThrottle } from './cpu-throttle.ts';
import { DiskRounds } from './disk-rounds.ts';
import { HELPER_TASKS } from './prlimit.ts';
import { BufferCount } from './buffers-used.ts';
import { MemoryLook } from './memory-look.ts';
import { memoryFiles } from './memory-used.ts';
import { newestTask, ProcessTable, type ProcessEntry } from './process-table.ts';

export interface WatchRequest {
  /** The sandbox's first process as this machine numbers it: all others descend from it. */
  initPid: number;
  limits: FenceLimits;
  /** The directories outside that take what is written inside. */
  disk: string[];
  /** The directories inside whose files lie in memory. */
  inMemory?: readonly string[];
  /** Asked now and then for a breach that something else saw. */
  probe?(): Breach | undefined;
  /** Whether its processes are held still for a moment: then none of them may be continued. */
  isStill?(): boolean;
  /** Called once at most, after the tree was sent SIGKILL. */
  onBreach(breach: Breach): void;
}

export interface WatchdogOptions {
  tickMs?: number;
  /** What must stay free on the disk of the layers, so that the engine itself can go on. */
  freeBytesMin?: number;
}

interface Watched {
  request: WatchRequest;
  startTicks: number;
  /** Its processes when they were last counted. */
  pids: number[];
  /** When its processes must be counted again, and how long that was after the last count. */
  dueAtMs: number;
  unseenMs: number;
  memory: { look: MemoryLook; buffers: BufferCount } | undefined;
  throttle: CpuThrottle | undefined;
  leaveDisk: (() => void) | undefined;
}

const TICK_MS = 50;
const FREE_BYTES_MIN = 256 * 1024 ** 2;
/** As fast as memory can be taken; says how long a sandbox with room left may go unseen. */
const TAKE_BYTES_PER_MS = (Math.min(availableParallelism(), 8) * 2 * 1024 ** 3) / 1000;
const FORKS_PER_MS = 2;
const UNSEEN_MS_MAX = 500;
/** Share of a core for counting processes, and for reading what memory is whose where it may be too much. */
const SHARE = 0.1;
const LOOK_SHARE = 0.25;
/** Whose parent vanished during a count is found by the next one. */
const COUNTS_MIN = 2;
/** How long the memory of all sandboxes may be read in one go: the engine has other work. */
const LOOK_MS_MAX = 30;

export class Watchdog {
  readonly #tickMs: number;
  readonly #disk: DiskRounds;
  readonly #table = new ProcessTable();
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #quietUntilMs = 0;
  /** Of the machine, when all were last counted, and how often they were since it became that. */
  #newest: { task: string | undefined; counts: number } = { task: undefined, counts: 0 };

  constructor({ tickMs = TICK_MS, freeBytesMin = FREE_BYTES_MIN }: WatchdogOptions = {}) {
    this.#tickMs = tickMs;
    this.#disk = new DiskRounds(freeBytesMin, () => this.#recount());
  }

  /** Until the returned function is called. A sandbox that has ended by itself is no breach. */
  watch(request: WatchRequest): () => void {
    const { initPid, limits, disk } = request;
    const init = this.#table.read(initPid);
    if (init === undefined) return () => {};
    this.#table.forget();
    const unseenMs = unseenAtFirstMs(limits);
    const watched: Watched = {
      request,
      startTicks: init.startTicks,
      pids: [initPid],
      dueAtMs: performance.now() + unseenMs,
      unseenMs,
      memory:
        limits.memoryBytes === undefined
          ? undefined
          : { look: new MemoryLook(), buffers: new BufferCount(initPid, limits.memoryBytes) },
      throttle: limits.cpu === undefined ? undefined : new CpuThrottle(limits.cpu, initPid),
      leaveDisk: undefined,
    };
    if (disk.length > 0) {
      watched.leaveDisk = this.#disk.add({
        directories: disk,
        limitBytes: limits.diskBytes,
        pids: () => watched.pids,
        inMemory: request.inMemory ?? [],
        onBreach: (breach) => this.#end(watched, breach),
      });
    }
    this.#watched.set(initPid, watched);
    this.#newest.counts = 0; // it was not counted yet
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
    return () => this.#leave(watched);
  }

  [Symbol.dispose](): void {
    for (const watched of this.#watched.values()) this.#leave(watched);
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#disk.tick(nowMs, this.#tickMs);
    if (nowMs < this.#quietUntilMs || this.#isLooking) return;
    const due = [...this.#watched.values()].filter((watched) => watched.dueAtMs <= nowMs);
    if (due.length === 0) return;
    const task = newestTask();
    const isNew = task === undefined || task !== this.#newest.task;
    if (!isNew && this.#newest.counts >= COUNTS_MIN && due.every(isOnlyCounted))
      return this.#foundNoMore(due, nowMs);
    this.#newest = { task, counts: isNew ? 1 : this.#newest.counts + 1 };
    void this.#lookAtAll(nowMs);
  }

  /** Where nobody on this machine has started anything since the last count there are no more than there were. */
  #foundNoMore(due: readonly Watched[], nowMs: number): void {
    for (const watched of due) {
      const breach = watched.request.probe?.();
      if (breach !== undefined) this.#end(watched, breach);
      else watched.dueAtMs = nowMs + watched.unseenMs;
    }
  }

  async #lookAtAll(nowMs: number): Promise<void> {
    this.#isLooking = true;
    try {
      const all = new Map(this.#watched);
      const { trees, tookMs } = await this.#table.treesInTurns(new Set(all.keys()), nowMs);
      let [sinceMs, lookedMs] = [performance.now(), 0];
      const isTimeUp = (): boolean => lookedMs + performance.now() - sinceMs >= LOOK_MS_MAX;
      for (const [initPid, watched] of all) {
        if (this.#watched.get(initPid) !== watched) continue; // it left meanwhile
        this.#look(watched, trees.get(initPid) ?? [], nowMs, isTimeUp);
        if (performance.now() - sinceMs < LOOK_MS_MAX) continue;
        lookedMs += performance.now() - sinceMs;
        await setImmediate();
        sinceMs = performance.now();
      }
      const endMs = performance.now();
      lookedMs += endMs - sinceMs;
      this.#quietUntilMs = endMs + tookMs / SHARE + lookedMs / LOOK_SHARE - this.#tickMs;
    } finally {
      this.#isLooking = false;
    }
  }

  /** Who writes may be younger than the last count. */
  #recount(): void {
    const nowMs = performance.now();
    if (nowMs < this.#quietUntilMs) return;
    const trees = this.#table.trees(new Set(this.#watched.keys()), nowMs);
    for (const [initPid, watched] of this.#watched)
      watched.pids = (trees.get(initPid) ?? []).map(({ pid }) => pid);
    const endMs = performance.now();
    this.#quietUntilMs = endMs + (endMs - nowMs) / SHARE - this.#tickMs;
  }

  #look(watched: Watched, tree: ProcessEntry[], nowMs: number, isTimeUp: () => boolean): void {
    const { request, throttle, startTicks } = watched;
    const { initPid, limits } = request;
    const init = tree.find(({ pid }) => pid === initPid);
    if (init?.startTicks !== startTicks) return this.#leave(watched);
    watched.pids = tree.map(({ pid }) => pid);
    let unseenMs = UNSEEN_MS_MAX;
    if (throttle !== undefined) {
      if (request.isStill?.() !== true) throttle.tick(tree, nowMs);
      unseenMs = 0;
    }
    if (limits.processes !== undefined) {
      const tasks = sum(tree, ({ threads }) => threads);
      const room = limits.processes + HELPER_TASKS - tasks;
      if (room < 0) return this.#end(watched, processesBreach(tasks, limits.processes), tree);
      unseenMs = Math.min(unseenMs, room / FORKS_PER_MS);
    }
    if (limits.memoryBytes !== undefined) {
      // The first process is ours and has one thread: what made it lose that wants to be hidden.
      if (init.reader !== initPid || tree.some(({ isHidden }) => isHidden))
        return this.#end(watched, hiddenMemoryBreach(), tree);
      const { look, buffers } = watched.memory!;
      const files = memoryFiles(initPid, request.inMemory ?? []);
      buffers.refresh(
        tree.map(({ reader }) => reader),
        nowMs,
      );
      const { memoryBytes } = limits;
      const { usedBytes, buffersBytes, hadTime } = look.take(
        tree,
        files,
        buffers,
        memoryBytes,
        awakeMs(),
        isTimeUp,
      );
      if (hadTime) this.#putLast(watched);
      if (usedBytes > limits.memoryBytes)
        return this.#end(watched, memoryBreach(usedBytes, memoryBytes, buffersBytes), tree);
      unseenMs = Math.min(unseenMs, (limits.memoryBytes - usedBytes) / TAKE_BYTES_PER_MS);
    }
    const breach = request.probe?.();
    if (breach !== undefined) return this.#end(watched, breach, tree);
    watched.unseenMs = unseenMs;
    watched.dueAtMs = nowMs + unseenMs;
  }

  /** Whoever was read comes after all who were not: nobody uses up the time of the same others again and again. */
  #putLast(watched: Watched): void {
    this.#watched.delete(watched.request.initPid);
    this.#watched.set(watched.request.initPid, watched);
  }

  #end(watched: Watched, breach: Breach, tree?: ProcessEntry[]): void {
    const { initPid, onBreach } = watched.request;
    if (this.#watched.get(initPid) !== watched) return;
    // Of all sandboxes: the table takes whoever is below none of these roots for an outsider.
    const roots = new Set(this.#watched.keys());
    const all = tree ?? this.#table.trees(roots, performance.now()).get(initPid) ?? [];
    // The first process takes its namespace along; the others are for a tree that has no namespace of its own.
    if (this.#table.read(initPid)?.startTicks === watched.startTicks)
      for (const pid of [initPid, ...all.map(({ pid }) => pid)]) kill(pid);
    this.#leave(watched);
    onBreach(breach);
  }

  #leave(watched: Watched): void {
    const { initPid } = watched.request;
    if (this.#watched.get(initPid) !== watched) return;
    this.#watched.delete(initPid);
    watched.leaveDisk?.();
    watched.memory?.buffers[Symbol.dispose]();
    watched.throttle?.release((pid) => this.#table.read(pid)?.startTicks);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** What its processes use is not looked at, only how many there are. */
function isOnlyCounted({ memory, throttle }: Watched): boolean {
  return memory === undefined && throttle === undefined;
}

/** As long as it takes to use up what is allowed, from nothing. */
function unseenAtFirstMs({ cpu, processes = Infinity, memoryBytes = Infinity }: FenceLimits): number {
  if (cpu !== undefined) return 0;
  return Math.min(UNSEEN_MS_MAX, processes / FORKS_PER_MS, memoryBytes / TAKE_BYTES_PER_MS);
}

function sum(tree: ProcessEntry[], figure: (entry: ProcessEntry) => number): number {
  return tree.reduce((total, entry) => total + figure(entry), 0);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it is gone
  }
}
