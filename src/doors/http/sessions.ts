/**
 * What a browser comes in with after the address that was printed: a cookie in place of the token, so that no script
 * and no other page can read it. Nothing is kept of it but the key that it is signed with: a page that is left open
 * goes on when the server ends and starts again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { userStateDirectory } from '../../store/user-state.ts';
import { isSameHash } from '../../store/records/tokens.ts';
import { assertOurs } from '../../system/files/owned.ts';

const KEY_BYTES = 32;
const SESSION_MS = 30 * 24 * 3_600_000;
const COOKIE_CHARS_MAX = 1000;

export class Sessions {
  readonly #key: Buffer;
  /** Another user's server on this machine has another one: cookies know no ports. */
  readonly #name: string;

  constructor(key: Buffer) {
    this.#key = key;
    this.#name = `bosun-${createHmac('sha256', key).update('name').digest('hex').slice(0, 8)}`;
  }

  /** Of the key that this user's servers have. */
  static open(directory: string = path.join(userStateDirectory(), 'serve')): Sessions {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = path.join(directory, 'page.key');
    try {
      writeFileSync(file, randomBytes(KEY_BYTES).toString('base64url'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    assertOurs(directory, file);
    return new Sessions(Buffer.from(readFileSync(file, 'utf8'), 'base64url'));
  }

  /** For `Set-Cookie`. */
  cookieFor(subject: string, { isSecure, nowMs }: { isSecure: boolean; nowMs: number }): string {
    const body = `${Buffer.from(subject).toString('base64url')}.${nowMs + SESSION_MS}`;
    return this.#cookie(`${body}.${this.#sign(body)}`, SESSION_MS / 1000, isSecure);
  }

  endingCookie(isSecure: boolean): string {
    return this.#cookie('', 0, isSecure);
  }

  /** Whose session the request has; undefined where it has none that counts. */
  subjectOf(cookies: string | undefined, nowMs: number): string | undefined {
    const value = this.#find(cookies);
    if (value === undefined || value.length > COOKIE_CHARS_MAX) return undefined;
    const [subject = '', expires = '', signature = ''] = value.split('.');
    const signed = Buffer.from(this.#sign(`${subject}.${expires}`));
    if (!isSameHash(Buffer.from(signature), signed) || Number(expires) <= nowMs) return undefined;
    return Buffer.from(subject, 'base64url').toString();
  }

  #find(cookies = ''): string | undefined {
    const found = cookies.split(/; */).find((each) => each.startsWith(`${this.#name}=`));
    return found?.slice(this.#name.length + 1);
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url');
  }

  #cookie(value: string, seconds: number, isSecure: boolean): string {
    const rest = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
    return `${this.#name}=${value}; ${rest}${isSecure ? '; Secure' : ''}`;
  }
}
