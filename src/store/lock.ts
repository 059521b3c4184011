/**
 * The lock of the one engine that drives runs in a repository. It is a lock of the operating system, held through
 * an open SQLite transaction: a killed engine cannot leave it behind, and others can tell whether it is held.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { makePrivate } from './private-file.ts';
import { translated } from './sqlite-errors.ts';

const SQLITE_BUSY = 5;

export interface EngineLock extends Disposable {}

/** Takes the lock, or returns undefined where another engine holds it. */
export function takeLock(file: string): EngineLock | undefined {
  return translated(file, () => lock(file));
}

function lock(file: string): EngineLock | undefined {
  // Whoever looks whether it is held has it for a moment, too.
  makePrivate(file);
  const db = new DatabaseSync(file, { timeout: 200 });
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
  return existsSync(file) && translated(file, () => looksLocked(file));
}

function looksLocked(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: 0, readOnly: true });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
}
