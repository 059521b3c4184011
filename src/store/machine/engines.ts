/**
 * Which engines of the user are alive. Each holds a lock of the operating system (`lock.ts`) on a file that is called
 * like the engine: however one dies, its lock goes with it, and what it held in the database can be given to others.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../../system/files/names-in.ts';
import { isLocked, takeLock, type Lock } from '../lock.ts';
import type { MachineDatabase } from './database.ts';

/** Before it is locked a file exists for a moment. */
const YOUNG_MS = 60_000;

export class Engines implements Disposable {
  /** This engine's own name. */
  readonly own = randomUUID();
  readonly #db: MachineDatabase;
  readonly #place: string;
  readonly #lock: Lock | undefined;

  constructor(db: MachineDatabase) {
    this.#db = db;
    this.#place = path.join(db.directory, 'engines');
    mkdirSync(this.#place, { recursive: true, mode: 0o700 });
    this.#lock = takeLock(this.#fileOf(this.own));
    this.#sweep();
  }

  /** Frees what dead engines held. Requests that they had sent stay, and count as spent. */
  bury(): void {
    const named = this.#db.all(
      'SELECT engine FROM slot UNION SELECT engine FROM reserved WHERE engine IS NOT NULL',
    );
    const dead = named.map(({ engine }) => String(engine)).filter((engine) => !this.#isAlive(engine));
    if (dead.length === 0) return;
    this.#db.transaction(() => {
      for (const engine of dead) this.#forget(engine);
    });
    for (const engine of dead) rmSync(this.#fileOf(engine), { force: true });
  }

  [Symbol.dispose](): void {
    try {
      this.#db.transaction(() => this.#forget(this.own));
    } catch {
      // whoever looks later finds that this engine is gone
    }
    this.#lock?.[Symbol.dispose]();
    rmSync(this.#fileOf(this.own), { force: true });
  }

  #forget(engine: string): void {
    this.#db.run('DELETE FROM slot WHERE engine = ?', engine);
    this.#db.run('UPDATE reserved SET engine = NULL WHERE engine = ?', engine);
  }

  #isAlive(engine: string): boolean {
    if (engine === this.own) return true;
    try {
      return isLocked(this.#fileOf(engine));
    } catch {
      return true; // nobody can tell
    }
  }

  /** Those that died with nothing in the database. */
  #sweep(): void {
    const now = Date.now();
    for (const name of namesIn(this.#place)) {
      const file = path.join(this.#place, name);
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat && now - stat.mtimeMs > YOUNG_MS && !this.#isAlive(name)) rmSync(file, { force: true });
    }
  }

  #fileOf(engine: string): string {
    return path.join(this.#place, engine);
  }
}
