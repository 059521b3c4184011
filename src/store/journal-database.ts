/** The file that the journal is in: opened, brought up to date, asked. It knows nothing of runs and events. */
import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BosunError } from '../contract/errors.ts';
import { isAtRest, isOnReadOnlyDisk, openAsItIs, openDatabase } from './open-database.ts';
import { MIGRATIONS } from './schema.ts';
import { damaged, lacksSpace, translated } from './sqlite-errors.ts';

/** The version of the journal from which on events have a format. */
const FORMAT_SINCE = 4;
const IDENTITY_SINCE = 8;

export class JournalDatabase implements Disposable {
  readonly file: string;
  /** What gives the format of an event: a journal that could not be brought up to date has no column for it. */
  readonly format: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Why nothing can be written, where the disk was full when it was opened. */
  readonly #full: unknown;
  readonly #inode: number | undefined;
  readonly #version: number;

  constructor(file: string, readOnly: boolean) {
    this.file = file;
    const canWrite = !readOnly && !isOnReadOnlyDisk(file);
    let db = openDatabase(file, readOnly);
    try {
      if (canWrite) db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      db.prepare('SELECT count(*) FROM sqlite_schema').get();
    } catch (error) {
      db.close();
      if (!lacksSpace(error) || !isAtRest(file)) throw error;
      db = openAsItIs(file); // what is there can be read all the same
      this.#full = error;
    }
    this.#db = db;
    try {
      this.#version = this.#migrate(!canWrite || this.#full !== undefined);
      this.format = this.#version < FORMAT_SINCE ? '1' : 'format';
      this.#inode = inodeOf(file);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Not where it is of before, and could not be brought up to date. */
  get hasIdentity(): boolean {
    return this.#version >= IDENTITY_SINCE;
  }

  /** Whether it is still the file at its place, in the version in which it was opened, and can be written. */
  isCurrent(): boolean {
    if (this.#full !== undefined || inodeOf(this.file) !== this.#inode) return false;
    return this.get('PRAGMA user_version')?.user_version === this.#version;
  }

  /** Gives the version that the journal has then. */
  #migrate(readOnly: boolean): number {
    const version = Number(this.#db.prepare('PRAGMA user_version').get()?.user_version);
    if (version > MIGRATIONS.length) {
      const message = `${this.file} was written by a newer bosun (version ${version} of the journal, this one knows ${MIGRATIONS.length}); update bosun to use it`;
      throw new BosunError('journal', message);
    }
    if (readOnly || version === MIGRATIONS.length) return version;
    this.transaction(() => {
      // Another process may have been faster.
      const now = Number(this.#db.prepare('PRAGMA user_version').get()?.user_version);
      for (const sql of MIGRATIONS.slice(now)) this.#db.exec(sql);
      this.#db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    });
    return MIGRATIONS.length;
  }

  /** All of it or nothing; nobody else writes meanwhile. */
  transaction<T>(action: () => T): T {
    return translated(this.file, () => {
      if (this.#full !== undefined) throw this.#full as Error;
      this.#db.exec('BEGIN IMMEDIATE');
      try {
        const result = action();
        this.#db.exec('COMMIT');
        return result;
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  run(sql: string, ...values: (string | number | null)[]): void {
    this.prepare(sql).run(...values);
  }

  get(sql: string, ...values: (string | number)[]): Record<string, unknown> | undefined {
    return translated(this.file, () => this.prepare(sql).get(...values));
  }

  all(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
    return translated(this.file, () => this.prepare(sql).all(...values));
  }

  /** SQLite has no checksums: a page with other bytes in it may only be seen here. */
  parse(text: unknown): unknown {
    try {
      return JSON.parse(String(text)) as unknown;
    } catch (cause) {
      throw damaged(this.file, 'an entry cannot be read', cause);
    }
  }

  /** Gives space that nothing takes any more back to the disk. */
  compact(): void {
    translated(this.file, () => this.#db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    this.#db.close();
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
