/**
 * Locks between processes: a lock of the operating system each, held through an open SQLite transaction. A killed
 * process cannot leave one behind, and others can tell whether it is held.
 */
import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { lease, type Keepable } from './kept-open.ts';
import { makePrivate } from './private-file.ts';
import { translated } from './sqlite-errors.ts';

const SQLITE_BUSY = 5;
/** Whoever looks whether a lock is held has it for a moment, too. */
const LOOK_MS = 200;

const RETRY_MS = 10;

export interface Lock extends Disposable {}

/** Takes the lock, or returns undefined where somebody else holds it. */
export function takeLock(file: string, waitMs = LOOK_MS): Lock | undefined {
  return translated(file, () => lock(file, waitMs), 'lock');
}

/** Waits for the lock without keeping this thread; undefined where it is not to be had in that time, or none is wanted. */
export async function awaitLock(
  file: string,
  msMax: number,
  signal?: AbortSignal,
): Promise<Lock | undefined> {
  for (const endMs = performance.now() + msMax; ;) {
    const taken = takeLock(file, 0);
    if (taken || performance.now() >= endMs || signal?.aborted) return taken;
    await sleep(RETRY_MS);
  }
}

function lock(file: string, waitMs: number): Lock | undefined {
  makePrivate(file);
  const db = new DatabaseSync(file, { timeout: waitMs });
  try {
    // In its rollback mode an exclusive transaction is an exclusive lock on the file, even for readers.
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => db.close() };
}

export function isLocked(file: string): boolean {
  return existsSync(file) && translated(file, () => looksLocked(file), 'lock');
}

function looksLocked(file: string): boolean {
  try {
    using leased = lease(`look ${file}`, () => new Look(file));
    return leased.value.isLocked();
  } catch (error) {
    if (!existsSync(file)) return false; // whoever had it is gone, and has taken it along
    throw error;
  }
}

/** To open a file takes ten times as long as to look: a program that looks often keeps it open, see `kept-open.ts`. */
class Look implements Keepable {
  readonly #file: string;
  readonly #db: DatabaseSync;
  /** None before the file was free once: to prepare one is to read. */
  #statement: StatementSync | undefined;
  readonly #inode: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#db = new DatabaseSync(file, { timeout: 0, readOnly: true });
    this.#inode = inodeOf(file);
  }

  isLocked(): boolean {
    try {
      (this.#statement ??= this.#db.prepare('SELECT count(*) FROM sqlite_schema')).get();
      return false;
    } catch (error) {
      if (isBusy(error)) return true;
      throw error;
    }
  }

  isCurrent(): boolean {
    return inodeOf(this.#file) === this.#inode;
  }

  close(): void {
    this.#db.close();
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
}
