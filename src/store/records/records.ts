/**
 * What a user's processes keep that no journal has: who may come in over HTTP and to which
 * repositories, and what executions are made of. One small
 * database in the user's state directory, which nobody else can read. It decides nothing.
 */
import { MachineDatabase } from '../machine/database.ts';
import { userStateDirectory } from '../user-state.ts';
import { KeptRecords } from './kept-records.ts';
import { ServedRepositories } from './repositories.ts';
import { RECORD_MIGRATIONS } from './schema.ts';
import { Tokens } from './tokens.ts';

export class Records implements Disposable {
  readonly tokens: Tokens;
  readonly repositories: ServedRepositories;
  readonly kept: KeptRecords;
  readonly #db: MachineDatabase;

  /** Throws a BosunError, with what to do, where the database cannot be used. */
  constructor(directory: string = userStateDirectory()) {
    this.#db = new MachineDatabase(directory, {
      name: 'records.db',
      migrations: RECORD_MIGRATIONS,
      without: 'make tokens anew with bosun token add, and allow repositories with bosun repositories add',
      again: 'end bosun serve and start it again',
    });
    this.tokens = new Tokens(this.#db);
    this.kept = new KeptRecords(this.#db);
    this.repositories = new ServedRepositories(this.#db);
  }

  /** Another one where somebody else has written since. */
  version(): number {
    return this.#db.version();
  }

  [Symbol.dispose](): void {
    this.#db[Symbol.dispose]();
  }
}
