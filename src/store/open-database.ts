/** Opens the journal's file as it can be opened: to write, to read, or as it is where nobody can write. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makePrivate } from './private-file.ts';

const BUSY_TIMEOUT_MS = 10_000;

export function openDatabase(file: string, readOnly: boolean): DatabaseSync {
  if (isOnReadOnlyDisk(file)) return openAsItIs(file);
  if (!readOnly) makePrivate(file);
  return new DatabaseSync(file, { readOnly, timeout: BUSY_TIMEOUT_MS });
}

/** SQLite makes no files beside it, and no locks: only where nobody can write there. */
export function openAsItIs(file: string): DatabaseSync {
  const address = pathToFileURL(file);
  address.search = '?immutable=1';
  return new DatabaseSync(address, { readOnly: true });
}

/** Only where there is nothing beside it: a writer that was killed may have left something to read there. */
export function isOnReadOnlyDisk(file: string): boolean {
  try {
    accessSync(path.dirname(file), constants.W_OK);
    return false;
  } catch (error) {
    return (
      (error as NodeJS.ErrnoException).code === 'EROFS' && existsSync(file) && !existsSync(`${file}-wal`)
    );
  }
}

/** No engine has it open, and none that was killed left something beside it. */
export function isAtRest(file: string): boolean {
  const sizeOf = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return sizeOf(file) > 0 && sizeOf(`${file}-wal`) === 0;
}
