/** Workers, templates and work items, by id; and which executions were cleaned up. It knows nothing of what they say. */
import type { MachineDatabase } from '../machine/database.ts';

export type RecordKind = 'worker' | 'template' | 'item';
export const RECORDS_MAX = 10_000;
const CLEANED_MAX = 100_000;

export class KeptRecords {
  readonly #db: MachineDatabase;

  constructor(db: MachineDatabase) {
    this.#db = db;
  }

  get(kind: RecordKind, id: string): unknown {
    const row = this.#db.get('SELECT body FROM record WHERE kind = ? AND id = ?', kind, id);
    return row && (JSON.parse(String(row['body'])) as unknown);
  }

  /** By id, those behind `after`. */
  list(kind: RecordKind, limit: number, after = ''): unknown[] {
    const sql = 'SELECT body FROM record WHERE kind = ? AND id > ? ORDER BY id LIMIT ?';
    return this.#db.all(sql, kind, after, limit).map((row) => JSON.parse(String(row['body'])) as unknown);
  }

  /** In place of one of that id. False where there are too many. */
  put(kind: RecordKind, id: string, value: object): boolean {
    return this.#db.transaction(
      () => {
        const count = this.#db.get('SELECT count(*) AS n FROM record WHERE kind = ? AND id <> ?', kind, id);
        if (Number(count?.['n']) >= RECORDS_MAX) return false;
        const sql = 'INSERT OR REPLACE INTO record (kind, id, body) VALUES (?, ?, ?)';
        this.#db.run(sql, kind, id, JSON.stringify(value));
        return true;
      },
      { isDurable: true },
    );
  }

  /** False where there was none. */
  remove(kind: RecordKind, id: string): boolean {
    return this.#db.transaction(
      () => this.#db.get('DELETE FROM record WHERE kind = ? AND id = ? RETURNING id', kind, id) !== undefined,
      { isDurable: true },
    );
  }

  isCleaned(execution: string): boolean {
    return this.#db.get('SELECT 1 FROM cleaned WHERE execution = ?', execution) !== undefined;
  }

  clean(execution: string, nowMs: number): void {
    this.#db.transaction(() => {
      this.#db.run('INSERT OR REPLACE INTO cleaned (execution, at_ms) VALUES (?, ?)', execution, nowMs);
      const oldest = 'SELECT execution FROM cleaned ORDER BY at_ms DESC LIMIT -1 OFFSET ?';
      this.#db.run(`DELETE FROM cleaned WHERE execution IN (${oldest})`, CLEANED_MAX);
    });
  }
}
