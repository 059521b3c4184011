/**
 * Keys whose provider wants no requests for a while, so that one refusal stops all engines that use the key. No key is
 * in the database: only a hash of it, with a salt that is made there.
 */
import { createHmac } from 'node:crypto';
import type { MachineDatabase } from './database.ts';

/** Keys that are looked up in memory. */
const KEYS_MAX = 1000;

export interface KeyPause {
  untilMs: number;
  why: string;
}

/** The pauses of one key. */
export interface KeyPauses {
  /** The one that lasts, if there is one: whoever told of it. Costs microseconds. */
  heard(): KeyPause | undefined;
  tell(pause: KeyPause): void;
}

export class Pauses {
  readonly #db: MachineDatabase;
  readonly #known = new Map<string, KeyPause | undefined>();
  readonly #salt: Uint8Array;
  #version = -1;

  constructor(db: MachineDatabase) {
    this.#db = db;
    this.#salt = db.get('SELECT bytes FROM salt')!['bytes'] as Uint8Array;
  }

  /** `secret` is whatever tells this key from others; it is kept nowhere. */
  of(secret: string): KeyPauses {
    const key = createHmac('sha256', this.#salt).update(secret).digest('hex');
    return { heard: () => this.#heard(key), tell: (pause) => this.#tell(key, pause) };
  }

  #heard(key: string): KeyPause | undefined {
    const version = this.#db.version();
    if (version !== this.#version || this.#known.size > KEYS_MAX) this.#known.clear();
    this.#version = version;
    if (!this.#known.has(key)) this.#known.set(key, this.#read(key));
    const pause = this.#known.get(key);
    return pause !== undefined && pause.untilMs > Date.now() ? pause : undefined;
  }

  #read(key: string): KeyPause | undefined {
    const row = this.#db.get('SELECT at_ms, until_ms, why FROM pause WHERE key = ?', key);
    // One that was told of later than now is from before the clock was set back: nobody knows how long it lasts.
    if (row === undefined || Number(row['at_ms']) > Date.now()) return undefined;
    return { untilMs: Number(row['until_ms']), why: String(row['why']) };
  }

  #tell(key: string, { untilMs, why }: KeyPause): void {
    const now = Date.now();
    this.#db.transaction(() => {
      // Also those from before the clock was set back: nobody knows how long they last.
      this.#db.run('DELETE FROM pause WHERE until_ms <= ? OR at_ms > ?', now, now);
      this.#db.run(
        `INSERT INTO pause (key, at_ms, until_ms, why) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
         SET at_ms = excluded.at_ms, until_ms = max(until_ms, excluded.until_ms), why = excluded.why`,
        key,
        now,
        Math.ceil(untilMs),
        why,
      );
    });
    this.#known.delete(key);
  }
}
