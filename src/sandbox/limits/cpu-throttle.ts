/**
 * Keeps a tree of processes at a share of the machine by stopping and continuing it. For where there is no
 * cgroup; it never ends a process.
 *
 *   running --(more used than allowed)--> stopped --(the debt is paid by waiting)--> running
 */
import type { ProcessEntry } from './process-table.ts';

/** How much unused time may be saved up for a burst. */
const BURST_MS = 250;

export class CpuThrottle {
  readonly #cores: number;
  readonly #rootPid: number;
  #creditMs = 0;
  #atMs: number | undefined;
  #before = new Map<number, ProcessEntry>();
  /** What we stopped, not what stopped by itself: pid to its start. */
  readonly #stopped = new Map<number, number>();

  constructor(cores: number, rootPid: number) {
    this.#cores = cores;
    this.#rootPid = rootPid;
  }

  tick(processes: ProcessEntry[], nowMs: number): void {
    const now = new Map(processes.map((entry) => [entry.pid, entry]));
    if (this.#atMs !== undefined) {
      const allowedMs = this.#cores * (nowMs - this.#atMs);
      const saved = Math.min(this.#creditMs + allowedMs, this.#cores * BURST_MS);
      this.#creditMs = saved - this.#usedMs(now);
    }
    if (this.#creditMs < 0) this.#stop(processes);
    else this.#continue(now);
    this.#before = now;
    this.#atMs = nowMs;
  }

  /** Leaves nothing stopped behind. `current` tells whether a pid is still the process that began then. */
  release(current: (pid: number) => number | undefined): void {
    for (const [pid, startTicks] of this.#stopped) if (current(pid) === startTicks) send(pid, 'SIGCONT');
    this.#stopped.clear();
  }

  /**
   * Two counts, and the greater holds: all that the tree has on its account (misses children whose parent
   * ignores their end), and what live processes used themselves (misses those that came and went).
   */
  #usedMs(now: Map<number, ProcessEntry>): number {
    let account = 0;
    let live = 0;
    for (const entry of now.values()) {
      account += entry.cpuMs + entry.childrenCpuMs;
      live += entry.cpuMs - this.#earlierMs(entry);
    }
    for (const entry of this.#before.values()) account -= entry.cpuMs + entry.childrenCpuMs;
    return Math.max(account, live, 0);
  }

  #earlierMs(entry: ProcessEntry): number {
    const before = this.#before.get(entry.pid);
    return before?.startTicks === entry.startTicks ? before.cpuMs : 0;
  }

  /** Parents first, so that no parent sees its child stop. */
  #stop(processes: ProcessEntry[]): void {
    for (const entry of processes.toSorted((a, b) => a.startTicks - b.startTicks)) {
      if (/[TtZX]/.test(entry.state)) continue;
      // The init of a sandbox is watched by its launcher: it is left alone unless it is itself at work.
      if (entry.pid === this.#rootPid && entry.cpuMs <= this.#earlierMs(entry)) continue;
      this.#stopped.set(entry.pid, entry.startTicks);
      send(entry.pid, 'SIGSTOP');
    }
  }

  #continue(now: Map<number, ProcessEntry>): void {
    for (const [pid, startTicks] of [...this.#stopped].toReversed())
      if (now.get(pid)?.startTicks === startTicks) send(pid, 'SIGCONT');
    this.#stopped.clear();
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it is gone
  }
}
