/** The limits that the kernel holds for each user namespace or process. Never memory: a limit per process breaks WASM. */
import { readFileSync } from 'node:fs';
import { BosunError } from '../../contract/errors.ts';
import type { FenceLimits } from '../../system/process/fence.ts';
import { findProgram } from '../../system/process/process.ts';

/**
 * Tasks of our own that live among the command's: the init of the sandbox, the bridge and its connections. The
 * watchdog speaks of a breach past this many more than allowed.
 */
export const HELPER_TASKS = 8;
/** The kernel refuses later than the watchdog speaks, so that whoever meets its refusal is also named. */
const NPROC_ALLOWANCE = 2 * HELPER_TASKS;
const MEMLOCK_BYTES = 1024 ** 2;

/**
 * The command line to put before a command, to be run inside its user namespace. `processes` counts threads too,
 * as the kernel does.
 */
export function prlimitArgv(limits: FenceLimits, engine: HardLimits = hardLimits()): string[] {
  const program = findProgram('prlimit');
  if (program === undefined) throw new BosunError('system', 'prlimit is missing: install util-linux');
  // A hard limit can only be lowered: asking for more than the engine has would keep the command from starting.
  const option = (name: string, wanted: number, most: number): string => {
    const value = Math.min(wanted, most);
    return `--${name}=${value}:${value}`;
  };
  const argv = [
    program,
    '--core=0:0',
    option('memlock', MEMLOCK_BYTES, engine.memlockBytes),
    ...(limits.processes === undefined
      ? []
      : [option('nproc', limits.processes + NPROC_ALLOWANCE, engine.processes)]),
    ...(limits.openFiles === undefined ? [] : [option('nofile', limits.openFiles, engine.openFiles)]),
  ];
  return [...argv, '--'];
}

/** What build/launch takes inside a sandbox: how many processes and open files, 0 for no limit of ours. */
export function kernelLimits({ processes, openFiles }: FenceLimits): string[] {
  return [processes === undefined ? 0 : processes + NPROC_ALLOWANCE, openFiles ?? 0].map(String);
}

export interface HardLimits {
  processes: number;
  openFiles: number;
  memlockBytes: number;
}

function hardLimits(): HardLimits {
  let table = '';
  try {
    table = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    // no /proc: nothing is known to be lower than wanted
  }
  const hard = (name: string): number => {
    const match = new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(table);
    return match ? Number(match[1]) : Number.MAX_SAFE_INTEGER; // "unlimited" is no number
  };
  return {
    processes: hard('Max processes'),
    openFiles: hard('Max open files'),
    memlockBytes: hard('Max locked memory'),
  };
}
