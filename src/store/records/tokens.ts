/** Tokens, as they are kept: a name, a role, a hash, an end. Whoever reads the file cannot come in with what it has. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TokenView } from '../../contract/serving-schema.ts';
import type { Role } from '../../contract/role.ts';
import type { DatabaseRow, MachineDatabase } from '../machine/database.ts';

/** So much chance cannot be guessed, so that a plain hash of it tells nothing. */
const TOKEN_BYTES = 32;
const PREFIX = 'bosun_';
export const TOKENS_MAX = 1000;

/** A fresh one; it is shown once, and kept nowhere. */
export function makeToken(): string {
  return `${PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Takes as long whatever differs. */
export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

export interface KeptToken extends TokenView {
  hash: Uint8Array;
}

export class TokenRecords {
  readonly #db: MachineDatabase;

  constructor(db: MachineDatabase) {
    this.#db = db;
  }

  /** False where there is one of that name. */
  add({ name, role, hash, createdAtMs, expiresAtMs }: KeptToken): boolean {
    return this.#db.transaction(
      () => {
        if (this.#db.get('SELECT name FROM token WHERE name = ?', name)) return false;
        const sql = 'INSERT INTO token (name, role, hash, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?)';
        this.#db.run(sql, name, role, hash, createdAtMs, expiresAtMs ?? null);
        return true;
      },
      { isDurable: true },
    );
  }

  /** By name. */
  all(): KeptToken[] {
    return this.#db.all('SELECT * FROM token ORDER BY name LIMIT ?', TOKENS_MAX).map(read);
  }

  /** Gives what it was; undefined where there was none of that name. */
  remove(name: string): KeptToken | undefined {
    return this.#db.transaction(
      () => {
        const row = this.#db.get('DELETE FROM token WHERE name = ? RETURNING *', name);
        return row && read(row);
      },
      { isDurable: true },
    );
  }
}

function read(row: DatabaseRow): KeptToken {
  const expires = row['expires_ms'];
  return {
    name: String(row['name']),
    role: row['role'] as Role,
    hash: row['hash'] as Uint8Array,
    createdAtMs: Number(row['created_ms']),
    ...(expires !== null && { expiresAtMs: Number(expires) }),
  };
}
