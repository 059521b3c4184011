/**
 * How many agents of a user are at work on the machine, whatever engine drives them. Of the runs that wait the one with
 * the fewest agents at work goes first. Any engine that looks gives out what is free, also to the agents of others.
 *
 *   take ──▶ held ──▶ given back, or its engine died
 *     └──▶ waiting ──(a slot is free, and it is its run's turn)──▶ held
 *             └──▶ called off
 */
import type { Engines } from './engines.ts';
import type { MachineDatabase } from './database.ts';

/** Whoever waits looks this often whether anything has changed, which costs microseconds. */
const POLL_MS = 50;
/** A dead engine changes nothing in the database: whoever waits looks this often for one. */
const BURY_MS = 500;

export interface SlotOptions {
  repository: string;
  run: string;
  /** How many there are, on the whole machine. */
  most: number;
  signal: AbortSignal;
  /** It has to wait; says what for. */
  onWait(text: string): void;
}

export class Slots implements Disposable {
  readonly #db: MachineDatabase;
  readonly #engines: Engines;
  readonly #waiting = new Map<number, () => void>();
  /** Those that are over, but could not be given back yet: nobody could have them before this engine ends. */
  readonly #owed = new Set<number>();
  #poll: NodeJS.Timeout | undefined;
  #version = -1;
  #buriedMs = 0;

  constructor(db: MachineDatabase, engines: Engines) {
    this.#db = db;
    this.#engines = engines;
  }

  /** Resolves when the agent may begin, with what gives the slot back; it never comes to that once `signal` is aborted. */
  async take(options: SlotOptions): Promise<Disposable> {
    const { repository, run, most, signal, onWait } = options;
    const id = this.#change(() => {
      const sql = 'INSERT INTO slot (engine, repository, run, most) VALUES (?, ?, ?, ?)';
      return this.#db.run(sql, this.#engines.own, repository, run, most);
    });
    using undo = new DisposableStack();
    undo.defer(() => this.#giveBack(id));
    if (this.#isHeld(id) || signal.aborted) return undo.move();
    this.#look(true);
    if (this.#isHeld(id)) return undo.move();
    onWait(this.#describe(repository, run, most));
    await this.#granted(id, signal);
    return undo.move();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    for (const go of this.#waiting.values()) go();
  }

  async #granted(id: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = (): void => resolve();
    signal.addEventListener('abort', go, { once: true });
    this.#waiting.set(id, go);
    this.#poll ??= setInterval(() => this.#lookIfDue(), POLL_MS);
    await promise;
    signal.removeEventListener('abort', go);
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  #lookIfDue(): void {
    try {
      const isBuryDue = performance.now() - this.#buriedMs > BURY_MS;
      const version = this.#db.version();
      if (!isBuryDue && version === this.#version) return;
      this.#version = version;
      this.#look(isBuryDue);
    } catch {
      for (const go of this.#waiting.values()) go(); // a courtesy that cannot be had
    }
  }

  /** Gives out what is free, and lets those of our own go that have a slot now. */
  #look(withDead: boolean): void {
    if (withDead) {
      this.#buriedMs = performance.now();
      this.#db.assertThere();
      this.#engines.bury();
    }
    if (this.#owed.size > 0 || this.#isAnyFree()) this.#change(() => {});
    for (const [id, go] of this.#waiting) if (this.#isHeld(id)) go();
  }

  #giveBack(id: number): void {
    this.#owed.add(id);
    try {
      this.#change(() => {});
      for (const [waiting, go] of this.#waiting) if (this.#isHeld(waiting)) go();
    } catch {
      // with the next one that is taken or given back, or with the engine
    }
  }

  /** Also takes away what is owed, and gives out what is free then. */
  #change<T>(action: () => T): T {
    const result = this.#db.transaction(() => {
      for (const id of this.#owed) this.#db.run('DELETE FROM slot WHERE id = ?', id);
      const done = action();
      this.#giveOut();
      return done;
    });
    this.#owed.clear();
    return result;
  }

  #giveOut(): void {
    for (;;) {
      const next = this.#db.get(NEXT);
      if (!next) return;
      this.#db.run('UPDATE slot SET held = 1 WHERE id = ?', Number(next['id']));
    }
  }

  #isAnyFree(): boolean {
    return this.#db.get(NEXT) !== undefined;
  }

  /** Gone where somebody took this engine for dead: then nobody counts it, and it need not wait. */
  #isHeld(id: number): boolean {
    return this.#db.get('SELECT held FROM slot WHERE id = ?', id)?.['held'] !== 0;
  }

  #describe(repository: string, run: string, most: number): string {
    const rows = this.#db.all(
      'SELECT repository, run, count(*) AS agents FROM slot WHERE held = 1 GROUP BY repository, run',
    );
    const countOf = (some: typeof rows): number => some.reduce((sum, { agents }) => sum + Number(agents), 0);
    const others = rows.filter((row) => row['repository'] !== repository || row['run'] !== run);
    const [all, theirs] = [countOf(rows), countOf(others)];
    const runs = `${others.length} other ${others.length === 1 ? 'run' : 'runs'}`;
    if (theirs === 0) return `waiting for a slot: this machine allows ${agents(most)} at work at once`;
    if (theirs === all) return `waiting for a slot: ${agents(all)} of ${runs} ${are(all)} at work`;
    return `waiting for a slot: ${agents(all)} are at work, ${theirs} of them in ${runs}`;
  }
}

/** Whose turn it is, where a slot is free. */
const NEXT = `
  SELECT waiting.id,
    (SELECT count(*) FROM slot AS held
     WHERE held.held = 1 AND held.repository = waiting.repository AND held.run = waiting.run) AS have
  FROM slot AS waiting
  WHERE waiting.held = 0 AND waiting.most > (SELECT count(*) FROM slot WHERE held = 1)
  ORDER BY have, waiting.id LIMIT 1`;

function agents(count: number): string {
  return `${count} ${count === 1 ? 'agent' : 'agents'}`;
}

function are(count: number): string {
  return count === 1 ? 'is' : 'are';
}
