/**
 * Who calls, what they may, and which repositories there are: from the records, which are read again when somebody has
 * changed them, so that a token that is revoked is of no use from then on. It does nothing for anybody.
 */
import { userInfo } from 'node:os';
import type { Actor } from '../../contract/actor.ts';
import { mayAct, type Role } from '../../contract/role.ts';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import type { Records } from '../../store/records/records.ts';
import { hashToken, isSameHash, type KeptToken } from '../../store/records/tokens.ts';
import { SOCKET, type Call } from './call.ts';
import { HttpProblem } from './problem.ts';
import { Rate, type RateLimit } from './rate.ts';
import type { Sessions } from './sessions.ts';

export interface HttpCaller {
  by: Actor;
  role: Role;
  /** What its requests are counted by. */
  key: string;
  /** What it came in with; whoever has it may only as long as it counts. */
  token?: Uint8Array;
  session?: Buffer;
}

/** Whoever guesses has to wait; that a token cannot be guessed is up to its length. */
const FAILURES: RateLimit = { burst: 20, perSecond: 1 };
/** Far more than a program needs, far less than it takes to keep everybody else from being served. */
const REQUESTS: RateLimit = { burst: 10_000, perSecond: 5000 };
const TOKEN_CHARS_MAX = 200;
const TOKEN = 'token ';
const PAGE = 'page';
/** Of a token's hash: enough to tell it from a later one of the same name. */
const HASH_CHARS = 16;
const CHALLENGE = { 'www-authenticate': 'Bearer realm="bosun"' };

export class Access {
  readonly #records: Records;
  readonly #sessions: Sessions;
  /** Of the address that was printed; it ends with this process. */
  readonly #pageHash: Buffer | undefined;
  readonly #failures = new Rate(FAILURES);
  readonly #requests = new Rate(REQUESTS);
  readonly #user: string;
  #version = -1;
  #tokens: readonly KeptToken[] = [];
  #repositories: ReadonlyMap<string, ServedRepository> = new Map();

  constructor(records: Records, sessions: Sessions, pageToken: string | undefined) {
    this.#records = records;
    this.#sessions = sessions;
    this.#pageHash = pageToken === undefined ? undefined : hashToken(pageToken);
    this.#user = userName();
  }

  /** Throws where nobody that is known calls, or calls too often. */
  callerOf(call: Call): HttpCaller {
    const caller = this.#known(call);
    const waitMs = this.#requests.take(caller.key);
    if (waitMs > 0) throw tooMany(waitMs, 'too many requests');
    return caller;
  }

  /** Whether what was allowed when a stream was opened still is. */
  isStill(
    { token: hash, session }: HttpCaller,
    { repositories, isOfAll }: { repositories: readonly ServedRepository[]; isOfAll: boolean },
  ): boolean {
    this.#read();
    const isServed =
      isOfAll ||
      repositories.every(({ name, directory }) => this.#repositories.get(name)?.directory === directory);
    if (session && !this.#sessions.isStill(session, Date.now())) return false;
    if (!hash) return isServed;
    const token = this.#tokens.find((each) => isSameHash(each.hash, hash)); // not one that has its name by now
    return isServed && token !== undefined && !isExpired(token);
  }

  /** Who comes back with a session, as it says; undefined for who needs none. */
  subjectOf({ key }: HttpCaller): string | undefined {
    if (key === PAGE) return PAGE;
    const token = key.startsWith(TOKEN) && this.#tokens.find(({ name }) => `${TOKEN}${name}` === key);
    return token ? subjectOfToken(token) : undefined;
  }

  repositories(): readonly ServedRepository[] {
    this.#read();
    return [...this.#repositories.values()];
  }

  repository(name: string): ServedRepository {
    this.#read();
    const found = this.#repositories.get(name);
    if (found) return found;
    throw new HttpProblem(404, 'not-found', `no repository ${JSON.stringify(name)} is served here`);
  }

  #known(call: Call): HttpCaller {
    const { from } = call;
    if (from === SOCKET) return { by: this.#person(SOCKET), role: 'admin', key: SOCKET };
    if (call.headers.authorization === undefined) {
      const caller = this.#callerOfSession(call);
      if (caller) return caller;
    }
    const [, token] = /^Bearer +([\w-]+)$/i.exec(call.headers.authorization ?? '') ?? [];
    if (token !== undefined && token.length <= TOKEN_CHARS_MAX) {
      const caller = this.#callerWith(hashToken(token), from);
      if (caller) return caller;
    }
    // Whoever has a token comes in, however many others guess from the same address: all programs of a machine share one.
    const waitMs = this.#failures.take(from);
    if (waitMs > 0) throw tooMany(waitMs, 'too many requests without a valid token');
    const what =
      call.headers.authorization === undefined
        ? 'a token is needed'
        : 'the token is mistyped, expired or revoked';
    throw new HttpProblem(
      401,
      'not-trusted',
      `${what}: send Authorization: Bearer <token>; make one with: bosun token add <name> --role run`,
      { headers: CHALLENGE },
    );
  }

  /** Looks at all of them, whichever it is. */
  #callerWith(hash: Buffer, from: string): HttpCaller | undefined {
    this.#read();
    const isPage = this.#pageHash !== undefined && isSameHash(hash, this.#pageHash);
    const known = this.#tokens.filter((token) => isSameHash(hash, token.hash));
    if (isPage) return this.#pageCaller(from);
    const [token] = known;
    return token && callerOfToken(token, from);
  }

  /** A browser says where each request that changes something comes from, and that is held against our own names. */
  #callerOfSession(call: Call): HttpCaller | undefined {
    const { headers, method, from } = call;
    const found = this.#sessions.find(call, Date.now());
    if (found === undefined) return undefined;
    const { subject, hash: session } = found;
    if (method !== 'GET' && method !== 'HEAD' && headers.origin === undefined)
      throw new HttpProblem(403, 'not-trusted', 'a request with a session must say its Origin');
    if (subject === PAGE) return this.#pageHash && { ...this.#pageCaller(from), session };
    this.#read();
    const token = this.#tokens.find((each) => subjectOfToken(each) === subject);
    const caller = token && callerOfToken(token, from);
    return caller && { ...caller, session };
  }

  #pageCaller(from: string): HttpCaller {
    return { by: this.#person(from), role: 'admin', key: PAGE };
  }

  #person(from: string): Actor {
    return { kind: 'person', name: `${this.#user}@${from}` };
  }

  #read(): void {
    const version = this.#records.version();
    if (version === this.#version) return;
    this.#tokens = this.#records.tokens.all();
    this.#repositories = new Map(this.#records.repositories.all().map((each) => [each.name, each]));
    this.#version = version;
  }
}

/** Throws where the caller may not. */
export function requireRole({ role }: HttpCaller, needed: Role, what: string): void {
  if (mayAct(role, needed)) return;
  throw new HttpProblem(
    403,
    'not-trusted',
    `${what} needs a token with the role ${needed}; this one has ${role}`,
  );
}

/** A limit that all runs share is for admins, also where a run asks about it. */
export function sharedWord({ role }: HttpCaller): { whyNotShared?: string } {
  return mayAct(role, 'admin') ? {} : { whyNotShared: 'it needs a token with the role admin' };
}

function callerOfToken(token: KeptToken, from: string): HttpCaller | undefined {
  if (isExpired(token)) return undefined;
  const { name, role, hash } = token;
  return { by: { kind: 'program', name: `${name}@${from}` }, role, key: `${TOKEN}${name}`, token: hash };
}

function subjectOfToken({ name, hash }: KeptToken): string {
  return `${TOKEN}${name} ${Buffer.from(hash).toString('hex').slice(0, HASH_CHARS)}`;
}

function isExpired({ expiresAtMs }: KeptToken): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= Date.now();
}

function tooMany(waitMs: number, what: string): HttpProblem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new HttpProblem(429, 'busy', `${what}: try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** The login; there is none for a user whom the system does not know. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user-${process.getuid?.() ?? 'unknown'}`;
  }
}
