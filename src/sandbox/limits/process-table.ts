/** Which processes belong to which sandbox and what each of them uses, read from /proc. It never changes anything. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { namesIn } from '../../system/files/names-in.ts';

export interface ProcessEntry {
  pid: number;
  parentPid: number;
  /** One letter, as in ps: T is stopped, Z is dead and not yet waited for. */
  state: string;
  threads: number;
  /** Of its own. */
  cpuMs: number;
  /** Of its children that were waited for. */
  childrenCpuMs: number;
  rssBytes: number;
  /** How often it got a page, be it a new one or one that was there. */
  faults: number;
  /** Of its address space, used or not. */
  mappedBytes: number;
  /** With the pid it names a process for good: the number alone is used again. */
  startTicks: number;
  /** Whose files in /proc show what its threads share: its own number, or a thread's where the first one has ended. */
  reader: number;
  /** It lives, but no thread of it was there long enough to be read. */
  isHidden: boolean;
}

/** USER_HZ: what /proc counts time in on every Linux, whatever the kernel's own tick. */
const TICK_MS = 10;
/** How long a process that is in no sandbox is taken to be in none without another look at its pid. */
const OUTSIDERS_FOR_MS = 1000;
/** Longest time in one go. */
const SLICE_MS = 20;
/** How often a thread is looked for among those that come and go. */
const THREAD_TRIES_MAX = 5;
const buffer = Buffer.alloc(4096);

export class ProcessTable {
  readonly #outsiders = new Set<number>();
  #outsidersSinceMs = 0;
  #forgotten = 0;

  /** To be called when there is a new root: processes seen before may be below it. */
  forget(): void {
    this.#outsiders.clear();
    this.#forgotten += 1;
  }

  read(pid: number): ProcessEntry | undefined {
    return readProcess(pid);
  }

  /**
   * The live processes at and below each root. One read for each process of a sandbox: a scan of all of /proc
   * is far cheaper than the `children` of every thread, and what belongs to nobody is read once a second.
   */
  trees(roots: ReadonlySet<number>, nowMs: number): Map<number, ProcessEntry[]> {
    const steps = this.#collect(roots, nowMs);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** The same, with turns for others where there are thousands; `tookMs` is without those. */
  async treesInTurns(
    roots: ReadonlySet<number>,
    nowMs: number,
  ): Promise<{ trees: Map<number, ProcessEntry[]>; tookMs: number }> {
    const steps = this.#collect(roots, nowMs);
    let tookMs = 0;
    for (let sinceMs = performance.now(); ;) {
      const step = steps.next();
      const sliceMs = performance.now() - sinceMs;
      if (step.done) return { trees: step.value, tookMs: tookMs + sliceMs };
      if (sliceMs < SLICE_MS) continue;
      tookMs += sliceMs;
      await setImmediate();
      sinceMs = performance.now();
    }
  }

  *#collect(roots: ReadonlySet<number>, nowMs: number): Generator<void, Map<number, ProcessEntry[]>> {
    const forgotten = this.#forgotten;
    if (nowMs - this.#outsidersSinceMs >= OUTSIDERS_FOR_MS) {
      this.#outsiders.clear();
      this.#outsidersSinceMs = nowMs;
    }
    const entries = new Map<number, ProcessEntry>();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || this.#outsiders.has(pid)) continue;
      const entry = this.read(pid);
      if (entry !== undefined) entries.set(pid, entry);
      yield;
    }
    const owners = new Map<number, number | undefined>();
    const trees = new Map<number, ProcessEntry[]>();
    for (const entry of entries.values()) {
      const root = this.#rootOf(entry, entries, roots, owners);
      if (root === undefined) continue;
      const tree = trees.get(root);
      if (tree === undefined) trees.set(root, [entry]);
      else tree.push(entry);
    }
    // Who belongs to nobody now may belong to a root that is new since the scan began.
    if (forgotten === this.#forgotten)
      for (const [pid, root] of owners) if (root === undefined) this.#outsiders.add(pid);
    return trees;
  }

  #rootOf(
    start: ProcessEntry,
    entries: ReadonlyMap<number, ProcessEntry>,
    roots: ReadonlySet<number>,
    owners: Map<number, number | undefined>,
  ): number | undefined {
    const path: number[] = [];
    let root: number | undefined;
    let certain = true;
    for (let pid = start.pid; ;) {
      if (roots.has(pid)) root = pid;
      else if (owners.has(pid)) root = owners.get(pid);
      else {
        path.push(pid);
        const entry = entries.get(pid);
        // A parent that vanished during the scan leaves a child whose tree is known at the next one only.
        if (entry === undefined) certain = pid === 0 || this.#outsiders.has(pid);
        else if (path.length <= entries.size) {
          pid = entry.parentPid;
          continue;
        }
      }
      break;
    }
    if (!certain) return undefined;
    for (const pid of path) owners.set(pid, root);
    return root;
  }
}

/** The number of the process or thread that was made last, on the whole machine: one small read tells that none is new. */
export function newestTask(): string | undefined {
  return readProc('/proc/loadavg')?.trimEnd().split(' ').at(-1);
}

export function readProcess(pid: number): ProcessEntry | undefined {
  const entry = readStat(pid, `/proc/${pid}`);
  return entry === undefined || entry.mappedBytes > 0 || entry.threads < 2 ? entry : throughThread(entry);
}

/** The first thread has ended and shows nothing; any other one shows what they all share. */
function throughThread(first: ProcessEntry): ProcessEntry {
  const tasks = `/proc/${first.pid}/task`;
  const seen = new Set<string>();
  for (let tries = 0; tries < THREAD_TRIES_MAX; tries += 1) {
    const fresh = namesIn(tasks).filter((name) => !seen.has(name));
    if (fresh.length === 0) return first; // all of them are on their way out, and so is the process
    for (const name of fresh.toReversed()) {
      seen.add(name);
      const thread = readStat(Number(name), `${tasks}/${name}`);
      if (thread === undefined || thread.mappedBytes === 0) continue;
      const { pid: reader, state, mappedBytes, rssBytes } = thread;
      return { ...first, reader, state, mappedBytes, rssBytes };
    }
  }
  return { ...first, isHidden: true };
}

function readStat(pid: number, directory: string): ProcessEntry | undefined {
  const text = readProc(`${directory}/stat`);
  return text === undefined ? undefined : parseStat(pid, text);
}

/** The state of a process or thread by its directory in /proc, as of `ProcessEntry`; that of the dead where it is gone. */
export function readState(directory: string): string {
  return readStat(0, directory)?.state ?? 'X';
}

/** The process's fair share of the memory it touches, and of that what files in memory have; undefined where that may not be read. */
export function shareOf({
  pid,
  reader,
}: Pick<ProcessEntry, 'pid' | 'reader'>): { bytes: number; inMemoryFiles: number } | undefined {
  const text = readProc(`/proc/${reader}/smaps_rollup`, 'empty-when-gone');
  // What shows nothing may be a thread that ended, and not the process.
  if (text === undefined || (text === '' && (readProcess(pid)?.mappedBytes ?? 0) > 0)) return undefined;
  const bytesOf = (key: string): number | undefined => {
    const match = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text);
    return match ? Number(match[1]) * 1024 : undefined;
  };
  const bytes = bytesOf('Pss') ?? 0;
  return { bytes, inMemoryFiles: bytesOf('Pss_Shmem') ?? bytes };
}

/** What the kernel needs to know where the memory of a process is; no resident size has it. */
export function pageTableBytes({ reader }: Pick<ProcessEntry, 'reader'>): number {
  const match = /^VmPTE:\s+(\d+) kB/m.exec(readProc(`/proc/${reader}/status`) ?? '');
  return match ? Number(match[1]) * 1024 : 0;
}

function parseStat(pid: number, text: string): ProcessEntry {
  // The name stands in brackets and may itself hold brackets and blanks.
  const state = text.lastIndexOf(')') + 2;
  const field = text.slice(state).split(' ');
  const number = (index: number): number => Number(field[index]);
  return {
    pid,
    reader: pid,
    isHidden: false,
    state: field[0] ?? 'X',
    parentPid: number(1),
    faults: number(7) + number(9),
    cpuMs: (number(11) + number(12)) * TICK_MS,
    childrenCpuMs: (number(13) + number(14)) * TICK_MS,
    threads: number(17),
    startTicks: number(19),
    mappedBytes: number(20),
    rssBytes: number(21) * pageBytes(),
  };
}

/** Undefined for a process that is gone, or with the flag only for one that may not be read. */
function readProc(file: string, flag?: 'empty-when-gone'): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const bytes = readSync(fd, buffer, 0, buffer.length, 0);
    return buffer.toString('latin1', 0, bytes);
  } catch (error) {
    const gone = ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
    return gone && flag === 'empty-when-gone' ? '' : undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

let page: number | undefined;

/** Read once: the kernel counts all the pages of this process for the answer, which takes milliseconds. */
function pageBytes(): number {
  if (page === undefined) {
    const match = /^KernelPageSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/smaps', 'latin1'));
    page = match ? Number(match[1]) * 1024 : 4096;
  }
  return page;
}
