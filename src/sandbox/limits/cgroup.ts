/**
 * A cgroup (v2) for each sandbox, where a writable hierarchy is ours to divide. It is a file interface, written
 * from the kernel's documentation; what only a real hierarchy shows is marked "untried".
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Breach, FenceLimits } from '../../system/process/fence.ts';
import { memoryBreach, processesBreach } from './breach.ts';
import { HELPER_TASKS } from './prlimit.ts';

const CONTROLLERS = ['memory', 'pids', 'cpu'];
const CPU_PERIOD_US = 100_000;
/** The kernel takes no smaller share of a period. */
const CPU_QUOTA_US_MIN = 1000;
/** The dead leave a cgroup a moment after they are killed. */
const REMOVE_WAIT_MS = 20;
const REMOVE_TRIES_MAX = 50;
const ADVICE = 'start bosun with `systemd-run --user --scope -p Delegate=yes` to have one';

export interface CgroupPlaces {
  /** Where the hierarchy is mounted. */
  root?: string;
  /** What says which cgroup we are in. */
  self?: string;
  pid?: number;
}

/** Undefined where there is none to be had; `notes` then gets why. Nothing is changed unless it can work. */
export async function tryCgroups(
  notes: string[] = [],
  { root = '/sys/fs/cgroup', self = '/proc/self/cgroup', pid = process.pid }: CgroupPlaces = {},
): Promise<CgroupLimits | undefined> {
  const without = (why: string): undefined => void notes.push(`no cgroup: ${why}`);
  const own = /^0::(\/.*)$/m.exec(await textOf(self))?.[1];
  if (own === undefined) return without(`${self} names none of version 2`);
  const home = path.join(root, own);
  const has = (await textOf(path.join(home, 'cgroup.controllers'))).trim().split(/\s+/);
  const missing = CONTROLLERS.filter((name) => !has.includes(name));
  if (missing.length > 0)
    return without(`${home} does not control ${missing.join(', ')} by version 2; ${ADVICE}`);
  const on = (await textOf(path.join(home, 'cgroup.subtree_control'))).trim().split(/\s+/);
  if (CONTROLLERS.every((name) => on.includes(name))) {
    const failure = attempt(() => tryMake(home));
    return failure === undefined ? new CgroupLimits(home) : without(`${failure}; ${ADVICE}`);
  }
  // A cgroup with processes of its own gives no controllers to its children, so the engine moves into a leaf
  // first (untried). Where others share our cgroup it stays busy: they are not ours to move, and we go back.
  const leaf = path.join(home, `bosun-engine-${pid}`);
  const failure = attempt(() => {
    mkdirSync(leaf);
    write(leaf, 'cgroup.procs', pid);
    write(home, 'cgroup.subtree_control', CONTROLLERS.map((name) => `+${name}`).join(' '));
    tryMake(home);
  });
  if (failure === undefined) return new CgroupLimits(home);
  attempt(() => write(home, 'cgroup.procs', pid));
  attempt(() => rmdirSync(leaf));
  return without(`${failure}; ${ADVICE}`);
}

export class CgroupLimits {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  /** `name` is new and a plain file name. Throws what the kernel answers. */
  make(name: string, limits: FenceLimits): Cgroup {
    const directory = path.join(this.#home, name);
    mkdirSync(directory);
    try {
      if (limits.memoryBytes !== undefined) {
        write(directory, 'memory.max', limits.memoryBytes);
        attempt(() => write(directory, 'memory.swap.max', 0)); // absent in a kernel without swap
        write(directory, 'memory.oom.group', 1);
      }
      if (limits.processes !== undefined) write(directory, 'pids.max', limits.processes + HELPER_TASKS);
      if (limits.cpu !== undefined) {
        const quotaUs = Math.max(CPU_QUOTA_US_MIN, Math.round(limits.cpu * CPU_PERIOD_US));
        write(directory, 'cpu.max', `${quotaUs} ${CPU_PERIOD_US}`);
      }
    } catch (error) {
      attempt(() => rmdirSync(directory));
      throw error;
    }
    return new Cgroup(directory, limits);
  }
}

/** The cgroup of one sandbox. */
export class Cgroup {
  readonly #directory: string;
  readonly #limits: FenceLimits;

  constructor(directory: string, limits: FenceLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  /** Moves a process; those it starts later follow by themselves. A process that is gone is no error. */
  add(pid: number): void {
    try {
      write(this.#directory, 'cgroup.procs', pid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** What the kernel refused or ended, if anything. */
  breach(): Breach | undefined {
    const { memoryBytes, processes } = this.#limits;
    if (memoryBytes !== undefined && this.#event('memory.events', 'oom_kill') > 0) {
      const peakBytes = Number(read(this.#directory, 'memory.peak')) || memoryBytes; // since Linux 5.19
      return memoryBreach(Math.max(peakBytes, memoryBytes), memoryBytes);
    }
    if (processes !== undefined && this.#event('pids.events', 'max') > 0)
      return processesBreach(processes + HELPER_TASKS + 1, processes);
    return undefined;
  }

  /** Ends all that is in it, at once (untried; since Linux 5.14). */
  kill(): void {
    attempt(() => write(this.#directory, 'cgroup.kill', 1));
  }

  /** After its processes ended. Gives up quietly: an empty cgroup costs next to nothing. */
  async remove(): Promise<void> {
    for (let tries = 0; tries < REMOVE_TRIES_MAX; tries += 1) {
      const failure = attempt(() => rmdirSync(this.#directory));
      if (failure === undefined || failure.startsWith('ENOENT')) return;
      await setTimeout(REMOVE_WAIT_MS, undefined, { ref: false });
    }
  }

  #event(file: string, name: string): number {
    const match = new RegExp(`^${name} (\\d+)$`, 'm').exec(read(this.#directory, file));
    return match ? Number(match[1]) : 0;
  }
}

/** Makes sure that a child can be made, and takes it away again. */
function tryMake(home: string): void {
  const directory = path.join(home, `bosun-try-${process.pid}`);
  mkdirSync(directory);
  rmdirSync(directory);
}

function write(directory: string, file: string, value: string | number): void {
  writeFileSync(path.join(directory, file), `${value}\n`);
}

function read(directory: string, file: string): string {
  try {
    return readFileSync(path.join(directory, file), 'latin1');
  } catch {
    return '';
  }
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '');
}

/** Undefined where it worked, else why not. */
function attempt(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
