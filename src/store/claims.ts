/**
 * Who drives a run: at most one engine, known by a lock of the operating system beside the run's other files. A killed
 * engine cannot leave it behind. Which process it is, is noted for people alone.
 */
import { lutimesSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertOwnRun } from '../system/files/own-state.ts';
import { isLocked, takeLock } from './lock.ts';

/** The right to drive a run, until it is disposed of. */
export interface Claim extends Disposable {}

export interface Driver {
  /** Zero where it has only just begun. */
  pid: number;
}

/** `directory` is the run's own. Undefined where another engine drives the run. */
export function claim(directory: string): Claim | undefined {
  assertOwnRun(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = takeLock(lockIn(directory));
  if (!lock) return undefined;
  note(noteIn(directory));
  return lock;
}

/** Undefined where nobody drives it. */
export function driverOf(directory: string): Driver | undefined {
  if (!isLocked(lockIn(directory))) return undefined;
  try {
    return JSON.parse(readFileSync(noteIn(directory), 'utf8')) as Driver;
  } catch {
    return { pid: 0 };
  }
}

/** A file that changes whenever something was asked for of the run that an engine drives. */
export function bellOf(directory: string): string {
  return noteIn(directory);
}

/** Where it cannot be rung, or nobody is there to hear it, nothing is lost: an engine also looks now and then. */
export function ring(directory: string): void {
  try {
    const now = new Date();
    lutimesSync(bellOf(directory), now, now);
  } catch {
    // nobody drives it yet, or any more
  }
}

/** On a full disk a run can be driven all the same: then nobody is told which process has it. */
function note(file: string): void {
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid }), { mode: 0o600 });
  } catch {
    rmSync(file, { force: true }); // what an earlier engine wrote is not true any more
  }
}

function lockIn(directory: string): string {
  return path.join(directory, 'engine.lock');
}

function noteIn(directory: string): string {
  return path.join(directory, 'engine.json');
}
