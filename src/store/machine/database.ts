/**
 * A small database that all of a user's processes share: opened, migrated, and its failures put into words. It knows no
 * rule of what is in it. WAL: a killed process leaves nothing half-written.
 */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { BosunError } from '../../contract/errors.ts';
import { assertOurs } from '../../system/files/owned.ts';
import { makePrivate } from '../private-file.ts';
import { MACHINE_MIGRATIONS } from './schema.ts';

/** Which of them: its file, its tables, and what it means to do without what was in it. */
export interface DatabaseKind {
  name: string;
  migrations: readonly string[];
  without: string;
  /** What to do where it was replaced while it was in use. */
  again: string;
}

const MACHINE: DatabaseKind = {
  name: 'machine.db',
  migrations: MACHINE_MIGRATIONS,
  without: 'what was spent is then counted anew',
  again: 'end this run and continue it with: bosun resume',
};

/** Whoever writes needs less than a millisecond; all work of an engine stands still meanwhile. */
const BUSY_TIMEOUT_MS = 250;

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

export type DatabaseRow = Record<string, unknown>;

/** Another process has it for now: worth another try. */
export class DatabaseBusy extends BosunError {}

export class MachineDatabase implements Disposable {
  readonly directory: string;
  readonly file: string;
  readonly #kind: DatabaseKind;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** What the file system calls it: a file that was put into its place is another one. */
  readonly #inode: number;

  /** Makes it where there is none. Throws a BosunError that says what to do. */
  constructor(directory: string, kind: DatabaseKind = MACHINE) {
    this.directory = directory;
    this.#kind = kind;
    this.file = path.join(directory, kind.name);
    this.#db = this.#explained(() => this.#open());
    try {
      this.#inode = this.#explained(() => {
        this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
        this.#migrate();
        return statSync(this.file).ino;
      });
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Another one where somebody else has written since. Costs a few microseconds. */
  version(): number {
    return this.#explained(() => Number(this.#prepare('PRAGMA data_version').get()!['data_version']));
  }

  /** Whether the file of that name is still this one. */
  isThere(): boolean {
    return statSync(this.file, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** `isDurable`: what it writes survives a power cut, too. */
  transaction<T>(action: () => T, { isDurable = false } = {}): T {
    return this.#explained(() => {
      this.assertThere();
      if (isDurable) this.#db.exec('PRAGMA synchronous = FULL');
      try {
        this.#prepare('BEGIN IMMEDIATE').run();
        const result = action();
        this.#prepare('COMMIT').run();
        return result;
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        throw error;
      } finally {
        if (isDurable) this.#db.exec('PRAGMA synchronous = NORMAL');
      }
    });
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return this.#explained(() => Number(this.#prepare(sql).run(...values).lastInsertRowid));
  }

  get(sql: string, ...values: SQLInputValue[]): DatabaseRow | undefined {
    return this.#explained(() => this.#prepare(sql).get(...values));
  }

  all(sql: string, ...values: SQLInputValue[]): DatabaseRow[] {
    return this.#explained(() => this.#prepare(sql).all(...values));
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  #open(): DatabaseSync {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    assertOurs(this.directory, this.file);
    makePrivate(this.file);
    return new DatabaseSync(this.file, { timeout: BUSY_TIMEOUT_MS });
  }

  #migrate(): void {
    const { migrations } = this.#kind;
    const version = (): number => Number(this.#db.prepare('PRAGMA user_version').get()!['user_version']);
    if (version() > migrations.length)
      throw new BosunError(
        'system',
        `${this.file} was written by a newer version of bosun; use that one, or move the file away`,
      );
    if (version() === migrations.length) return;
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have been faster.
      for (const sql of migrations.slice(version())) this.#db.exec(sql);
      this.#db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** What is written into a file without a name nobody else ever sees. */
  assertThere(): void {
    if (this.isThere()) return;
    throw new BosunError(
      'system',
      `${this.file} was removed or replaced while bosun was using it; ${this.#kind.again}`,
    );
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  #explained<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      throw cause instanceof BosunError ? cause : explain(this.file, this.#kind.without, cause as Error);
    }
  }
}

/** What it means to a person, and what to do about it. */
function explain(
  file: string,
  without: string,
  cause: Error & { errcode?: number; code?: string },
): BosunError {
  const code = (cause.errcode ?? 0) & 0xff;
  const said = cause.message;
  if (code === SQLITE_BUSY)
    return new DatabaseBusy('system', `${file} is locked by another process; end that one`, { cause });
  const remedy =
    code === SQLITE_CORRUPT || code === SQLITE_NOTADB
      ? `it is damaged; move it away: mv ${file} ${file}.damaged && rm -f ${file}-wal ${file}-shm ; ${without}`
      : code === SQLITE_FULL || code === SQLITE_IOERR || cause.code === 'ENOSPC'
        ? 'the disk is full or failing; free some space'
        : code === SQLITE_READONLY || code === SQLITE_CANTOPEN || cause.code !== undefined
          ? `make sure that you can write ${path.dirname(file)}`
          : 'it may be damaged; move it away';
  return new BosunError('system', `cannot use ${file} (${said}): ${remedy}`, { cause });
}
