/**
 * What this engine shares with all others of the same user: slots for agents, pauses of keys, and what was spent. All of
 * it is in one small database in the user's state directory. It decides nothing about runs.
 */
import { userStateDirectory } from '../user-state.ts';
import { MachineDatabase } from './database.ts';
import { Engines } from './engines.ts';
import { Pauses } from './pauses.ts';
import { SharedSpending } from './spending.ts';
import { Slots } from './slots.ts';

export class Machine implements AsyncDisposable {
  readonly slots: Slots;
  readonly pauses: Pauses;
  readonly spending: SharedSpending;
  readonly #undo: DisposableStack;

  /** Throws a BosunError, with what to do, where the database cannot be used. */
  constructor(directory: string = userStateDirectory(), nowMs: () => number = Date.now) {
    using undo = new DisposableStack();
    const db = undo.use(new MachineDatabase(directory));
    const engines = undo.use(new Engines(db));
    this.slots = undo.use(new Slots(db, engines));
    this.pauses = new Pauses(db);
    this.spending = new SharedSpending(db, engines, nowMs);
    this.#undo = undo.move();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#undo.dispose();
  }
}
