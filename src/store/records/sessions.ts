/** Sessions of browsers, as they are kept: a hash, whose it is, an end. Whoever reads the file cannot come in with it. */
import type { MachineDatabase } from '../machine/database.ts';

/** The one that was begun first makes room. */
export const SESSIONS_MAX = 200;

export interface KeptSession {
  hash: Uint8Array;
  /** Who has it, in the words of the door. */
  subject: string;
  expiresAtMs: number;
}

export class SessionRecords {
  readonly #db: MachineDatabase;

  constructor(db: MachineDatabase) {
    this.#db = db;
  }

  add({ hash, subject, expiresAtMs }: KeptSession, nowMs: number): void {
    this.#db.transaction(
      () => {
        this.#db.run('DELETE FROM session WHERE expires_ms <= ?', nowMs);
        this.#db.run(
          'DELETE FROM session WHERE hash NOT IN (SELECT hash FROM session ORDER BY expires_ms DESC LIMIT ?)',
          SESSIONS_MAX - 1,
        );
        const sql = 'INSERT INTO session (hash, subject, expires_ms) VALUES (?, ?, ?)';
        this.#db.run(sql, hash, subject, expiresAtMs);
      },
      { isDurable: true },
    );
  }

  /** Whose it is; undefined where there is none, or none any more. */
  subjectOf(hash: Uint8Array, nowMs: number): string | undefined {
    const row = this.#db.get('SELECT subject FROM session WHERE hash = ? AND expires_ms > ?', hash, nowMs);
    return row && String(row['subject']);
  }

  remove(hash: Uint8Array): void {
    this.#db.transaction(() => this.#db.run('DELETE FROM session WHERE hash = ?', hash), { isDurable: true });
  }
}
