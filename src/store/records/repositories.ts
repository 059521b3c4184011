/** The repositories that `bosun serve` may work on, each with a name for addresses. It looks into none of them. */
import path from 'node:path';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import type { DatabaseRow, MachineDatabase } from '../machine/database.ts';

export const REPOSITORIES_MAX = 1000;
const NAME_CHARS_MAX = 60;

export class RepositoryRecords {
  readonly #db: MachineDatabase;

  constructor(db: MachineDatabase) {
    this.#db = db;
  }

  /** Named for its directory, with a number where another has that name. One that is there already stays as it is. */
  add(directory: string, nowMs: number): ServedRepository {
    return this.#db.transaction(
      () => {
        const known = this.#db.get('SELECT * FROM repository WHERE directory = ?', directory);
        if (known) return read(known);
        const name = this.#freeName(nameFor(directory));
        const sql = 'INSERT INTO repository (name, directory, added_ms) VALUES (?, ?, ?)';
        this.#db.run(sql, name, directory, nowMs);
        return { name, directory, addedAtMs: nowMs };
      },
      { isDurable: true },
    );
  }

  /** By name. */
  all(): ServedRepository[] {
    return this.#db.all('SELECT * FROM repository ORDER BY name LIMIT ?', REPOSITORIES_MAX).map(read);
  }

  /** Gives what it was; undefined where there was none of that name. */
  remove(name: string): ServedRepository | undefined {
    return this.#db.transaction(
      () => {
        const row = this.#db.get('DELETE FROM repository WHERE name = ? RETURNING *', name);
        return row && read(row);
      },
      { isDurable: true },
    );
  }

  #freeName(wanted: string): string {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted}-${number}`;
      if (!this.#db.get('SELECT name FROM repository WHERE name = ?', name)) return name;
    }
  }
}

/** What needs no escaping in an address. */
function nameFor(directory: string): string {
  const plain = path
    .basename(directory)
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '');
  return plain.slice(0, NAME_CHARS_MAX) || 'repository';
}

function read(row: DatabaseRow): ServedRepository {
  return {
    name: String(row['name']),
    directory: String(row['directory']),
    addedAtMs: Number(row['added_ms']),
  };
}
