/**
 * What a user's runs have spent by day, in all engines: reserved before a request, settled after it. A request counts on
 * the day on which it was sent. It knows no limits but those it is given, and asks nobody.
 *
 *   reserve ──▶ reserved ──▶ settled: what it cost is spent, or nothing where it was never sent
 *                  └──(its engine dies)──▶ counts as spent, at its estimate, until the run is resumed and settles it
 */
import type { MachineDatabase } from './database.ts';
import type { Engines } from './engines.ts';

/** Days are those of this machine, as its clock and time zone have them. */
export type Period = 'day' | 'month';

export interface SpendingLimit {
  /** Undefined for all of them together. */
  repository: string | undefined;
  period: Period;
  usd: number;
}

export interface Standing {
  /** As configured, or as a person raised it for this day or month. */
  limitUsd: number;
  spentUsd: number;
  /** Of requests that are under way. */
  promisedUsd: number;
  promisedCount: number;
}

/** A request, as the run's own notes know it. */
export interface SentBy {
  repository: string;
  run: string;
  note: string;
}

export class SharedSpending {
  readonly #db: MachineDatabase;
  readonly #engines: Engines;
  readonly #nowMs: () => number;

  constructor(db: MachineDatabase, engines: Engines, nowMs: () => number = Date.now) {
    this.#db = db;
    this.#engines = engines;
    this.#nowMs = nowMs;
  }

  /** Another one where a run of whatever engine has spent or raised something since, or another day has begun. */
  version(): string {
    const own = this.#db.get('SELECT total_changes() AS count')?.['count'];
    return `${this.#db.version()} ${String(own)} ${this.#today()}`;
  }

  standing(limit: SpendingLimit): Standing {
    const standing = this.#read(limit);
    if (standing.promisedCount === 0 || standing.spentUsd + standing.promisedUsd < standing.limitUsd)
      return standing;
    this.#engines.bury(); // what a dead engine has sent nobody settles any more
    return this.#read(limit);
  }

  /** False, and nothing is reserved, where one of the limits has not as much left. */
  reserve(of: SentBy, usd: number, limits: readonly (SpendingLimit & { nextUsd: number })[]): boolean {
    return this.#db.transaction(() => {
      if (limits.some((limit) => isShort(this.#read(limit), limit.nextUsd))) return false;
      this.#db.run(
        `INSERT OR REPLACE INTO reserved (repository, run, note, engine, day, usd) VALUES (?, ?, ?, ?, ?, ?)`,
        of.repository,
        of.run,
        of.note,
        this.#engines.own,
        this.#today(),
        usd,
      );
      return true;
    });
  }

  /** At most once for each: what was settled before, or never reserved, is left as it is. */
  settle({ repository, run, note }: SentBy, usd: number): void {
    this.#db.transaction(
      () => {
        const key = 'repository = ? AND run = ? AND note = ?';
        const row = this.#db.get(`DELETE FROM reserved WHERE ${key} RETURNING day`, repository, run, note);
        if (row === undefined || usd === 0) return;
        this.#db.run(
          `INSERT INTO spent (day, repository, usd) VALUES (?, ?, ?)
           ON CONFLICT (day, repository) DO UPDATE SET usd = usd + excluded.usd`,
          String(row['day']),
          repository,
          usd,
        );
      },
      { isDurable: usd > 0 },
    );
  }

  /** For the day, or the month, that it is now. */
  raise({ repository = '', period }: Omit<SpendingLimit, 'usd'>, usd: number): void {
    const sql = `INSERT INTO raised (repository, period, usd) VALUES (?, ?, ?)
      ON CONFLICT (repository, period) DO UPDATE SET usd = max(usd, excluded.usd)`;
    this.#db.transaction(() => void this.#db.run(sql, repository, this.#name(period), usd));
  }

  /** What is dated later than today counts, too: a clock that was set back gives no money twice. */
  #read({ repository, period, usd }: SpendingLimit): Standing {
    const from = period === 'day' ? this.#today() : `${this.#name('month')}-01`;
    const where = `day >= ?${repository === undefined ? '' : ' AND repository = ?'}`;
    const values = repository === undefined ? [from] : [from, repository];
    const spent = this.#db.get(`SELECT total(usd) AS usd FROM spent WHERE ${where}`, ...values)!;
    const reserved = this.#db.get(
      `SELECT total(usd) FILTER (WHERE engine IS NULL) AS lost, total(usd) FILTER (WHERE engine IS NOT NULL) AS usd,
         count(engine) AS count FROM reserved WHERE ${where}`,
      ...values,
    )!;
    const raised = this.#db.get(
      'SELECT usd FROM raised WHERE repository = ? AND period = ?',
      repository ?? '',
      this.#name(period),
    );
    return {
      limitUsd: Math.max(usd, Number(raised?.['usd'] ?? 0)),
      spentUsd: Number(spent['usd']) + Number(reserved['lost']),
      promisedUsd: Number(reserved['usd']),
      promisedCount: Number(reserved['count']),
    };
  }

  #name(period: Period): string {
    return this.#today().slice(0, period === 'day' ? 10 : 7);
  }

  #today(): string {
    const now = new Date(this.#nowMs());
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  }
}

/** `nextUsd` is what the next request must not go beyond the limit with. */
function isShort({ limitUsd, spentUsd, promisedUsd }: Standing, nextUsd: number): boolean {
  const takenUsd = spentUsd + promisedUsd;
  return takenUsd >= limitUsd || takenUsd + nextUsd > limitUsd;
}
