/**
 * What a user's processes keep that no journal has: who may come in over HTTP and to which
 * repositories, and what executions are made of. One small
 * database in the user's state directory, which nobody else can read. It decides nothing.
 */
import path from 'node:path';
import { lease } from '../kept-open.ts';
import { MachineDatabase } from '../machine/database.ts';
import { userStateDirectory } from '../user-state.ts';
import { KeptRecords } from './kept-records.ts';
import { RepositoryRecords } from './repositories.ts';
import { RECORD_MIGRATIONS } from './schema.ts';
import { SessionRecords } from './sessions.ts';
import { TokenRecords } from './tokens.ts';

const NAME = 'records.db';

export type OpenRecords = Pick<Records, 'tokens' | 'repositories' | 'kept'>;

export class Records implements Disposable {
  readonly tokens: TokenRecords;
  readonly sessions: SessionRecords;
  readonly repositories: RepositoryRecords;
  readonly kept: KeptRecords;
  readonly #db: MachineDatabase;

  /** Throws a BosunError, with what to do, where the database cannot be used. */
  constructor(directory: string = userStateDirectory()) {
    this.#db = new MachineDatabase(directory, {
      name: NAME,
      migrations: RECORD_MIGRATIONS,
      without: 'make tokens anew with bosun token add, and allow repositories with bosun repositories add',
      again: 'end bosun serve and start it again',
    });
    this.tokens = new TokenRecords(this.#db);
    this.sessions = new SessionRecords(this.#db);
    this.kept = new KeptRecords(this.#db);
    this.repositories = new RepositoryRecords(this.#db);
  }

  /** Another one where somebody else has written since. */
  version(): number {
    return this.#db.version();
  }

  get file(): string {
    return this.#db.file;
  }

  /** Whether its file is still the one of that name. */
  isCurrent(): boolean {
    return this.#db.isThere();
  }

  close(): void {
    this.#db[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** For the time of one operation: a program that has many of them keeps them open meanwhile, see `kept-open.ts`. */
export function openRecords(): OpenRecords & Disposable {
  const directory = userStateDirectory();
  const leased = lease(path.join(directory, NAME), () => new Records(directory));
  const { tokens, repositories, kept } = leased.value;
  return { tokens, repositories, kept, [Symbol.dispose]: () => leased[Symbol.dispose]() };
}
