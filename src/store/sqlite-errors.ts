/** What SQLite's errors mean to a person, and what to do about them. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/** SQLite's own words mean little to a person: say what it means and what to do. */
export function translated<T>(file: string, action: () => T, what: 'journal' | 'lock' = 'journal'): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof BosunError) throw cause;
    const code = (cause as { errcode?: number }).errcode;
    if (code === undefined) throw cause;
    const said = (cause as Error).message;
    const name = `the ${what} ${file}`;
    switch (code & 0xff) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        throw what === 'lock' ? damagedLock(file, said, cause) : damaged(file, said, cause);
      case SQLITE_FULL:
      case SQLITE_IOERR:
        throw new BosunError(
          'journal',
          `cannot write ${name} (${said}): the disk is full or failing; free some space`,
          { cause },
        );
      case SQLITE_READONLY:
        throw new BosunError('journal', machineError(cause, `cannot write ${name}`)!.message, {
          cause,
        });
      case SQLITE_CANTOPEN:
        if (isDirectory(file))
          throw what === 'lock'
            ? damagedLock(file, 'it is a directory', cause)
            : damaged(file, 'it is a directory', cause);
        throw new BosunError(
          'journal',
          `cannot open ${name} (${said}); check that you may write its directory, and that not too many files are open (ulimit -n)`,
          { cause },
        );
      case SQLITE_BUSY:
        throw new BosunError('busy', `${name} is in use by another process and did not become free`, {
          cause,
        });
      default:
        throw new BosunError('journal', `${name} failed: ${said}`, { cause });
    }
  }
}

/** Whether there was no space for what SQLite wants to write, be it only the two files that it makes beside a journal. */
export function lacksSpace(error: unknown): boolean {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  return code === SQLITE_FULL || code === SQLITE_IOERR || code === SQLITE_CANTOPEN;
}

/** What to type next: nothing is lost with the journal but the story of the runs. */
export function damaged(file: string, why: string, cause?: unknown): BosunError {
  const directory = path.dirname(file);
  return new BosunError(
    'journal',
    `the journal ${file} is damaged (${why}). Move it aside: mkdir ${directory}/damaged && mv ${file}* ${directory}/damaged ; then bosun starts a new one. The branches and snapshots of its runs are kept: git --git-dir=${path.join(directory, 'git')} branch`,
    { cause },
  );
}

/** Nothing is ever written into one. */
function damagedLock(file: string, why: string, cause: unknown): BosunError {
  const message = `the lock ${file} is damaged (${why}); if no bosun is at work in this repository, remove it: rm -r ${file}`;
  return new BosunError('journal', message, { cause });
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A key that came with another request before. */
export function otherRequest(run: string): BosunError {
  return new BosunError(
    'conflict',
    `this key came with another request before, which made run ${run}: use a new key for another request`,
  );
}

/** The file itself, while it was open. */
export function gone(file: string): BosunError {
  return new BosunError(
    'journal',
    `the journal ${file} is gone: somebody removed or moved it while a run was at work; put it back`,
  );
}
