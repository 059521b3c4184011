/**
 * What a browser comes in with after the address that was printed. Browsers send a cookie to every port of a host, so a
 * session has two halves: a place, which only the page knows and asks at (`/s/PLACE/api/…`), and a cookie for that path,
 * which no script can read. A server on another port gets neither. What is kept is a hash of both, until it is ended.
 */
import { randomBytes } from 'node:crypto';
import type { SessionRecords } from '../../store/records/sessions.ts';
import { hashToken } from '../../store/records/tokens.ts';
import type { Call } from './call.ts';

const SESSION_MS = 30 * 24 * 3_600_000;
const PLACE_BYTES = 16;
const SECRET_BYTES = 32;
const NAME = 'bosun';
/** Another server of this host may have set some of that name, too. */
const COOKIES_MAX = 4;
const PLACED = /^\/s\/([\w-]{22})(\/api\/.*)$/;

type Asking = Pick<Call, 'place' | 'headers'>;

export interface FoundSession {
  subject: string;
  hash: Buffer;
}

/** The path without the place, and the place. */
export function unplaced(path: string): Pick<Call, 'path' | 'place'> {
  const [, place, rest] = PLACED.exec(path) ?? [];
  return place === undefined || rest === undefined ? { path } : { path: rest, place };
}

export class Sessions {
  readonly #records: SessionRecords;

  constructor(records: SessionRecords) {
    this.#records = records;
  }

  /** In place of the one that the request has. `cookie` is for `Set-Cookie`, `place` goes before each path. */
  begin(
    call: Asking,
    subject: string,
    { isSecure, nowMs }: { isSecure: boolean; nowMs: number },
  ): { cookie: string; place: string } {
    this.#remove(call, nowMs);
    const place = call.place ?? randomBytes(PLACE_BYTES).toString('base64url');
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    this.#records.add({ hash: hashOf(place, secret), subject, expiresAtMs: nowMs + SESSION_MS }, nowMs);
    return { place: pathOf(place), cookie: cookieOf(place, secret, SESSION_MS / 1000, isSecure) };
  }

  /** It is of no use from now on, whoever has it. */
  end(call: Asking, { isSecure, nowMs }: { isSecure: boolean; nowMs: number }): string | undefined {
    this.#remove(call, nowMs);
    return call.place === undefined ? undefined : cookieOf(call.place, '', 0, isSecure);
  }

  /** That of the request; undefined where it has none that counts. */
  find({ place, headers }: Asking, nowMs: number): FoundSession | undefined {
    if (place === undefined) return undefined;
    for (const secret of secretsIn(headers.cookie)) {
      const hash = hashOf(place, secret);
      const subject = this.#records.subjectOf(hash, nowMs);
      if (subject !== undefined) return { subject, hash };
    }
    return undefined;
  }

  isStill(hash: Buffer, nowMs: number): boolean {
    return this.#records.subjectOf(hash, nowMs) !== undefined;
  }

  #remove(call: Asking, nowMs: number): void {
    const found = this.find(call, nowMs);
    if (found) this.#records.remove(found.hash);
  }
}

function secretsIn(cookies = ''): string[] {
  const own = cookies.split(/; */).filter((each) => each.startsWith(`${NAME}=`));
  return own.slice(0, COOKIES_MAX).map((each) => each.slice(NAME.length + 1));
}

/** Both are of our making and of fixed lengths, so there is one way to take it apart. */
function hashOf(place: string, secret: string): Buffer {
  return hashToken(`${place} ${secret}`);
}

function pathOf(place: string): string {
  return `/s/${place}`;
}

function cookieOf(place: string, value: string, seconds: number, isSecure: boolean): string {
  const rest = `Path=${pathOf(place)}/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
  return `${NAME}=${value}; ${rest}${isSecure ? '; Secure' : ''}`;
}
