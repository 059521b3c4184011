/**
 * The budgets of days and months, which all runs of a user share: what is configured, and what the machine's database
 * knows of it. A limit that cannot be held lets nothing go; without limits what is spent is only noted, and nothing fails.
 */
import { BosunError } from '../contract/errors.ts';
import type { ConfigFile } from '../contract/config.ts';
import type { Budget } from '../contract/workflow.ts';
import type { SharedSpending, SpendingLimit, Standing } from '../store/machine/spending.ts';

/** How often a configuration is read again while a request is held. */
const RELOAD_MS = 2000;

export interface SharedAccount extends SpendingLimit {
  /** `all:day`, `all:month`, `repository:day` or `repository:month`. */
  id: string;
  /** As the ledger knows budgets. */
  written: Budget;
}

export interface SharedBudgetsOptions {
  repository: string;
  run: string;
  configs(): ConfigFile[];
  /** Throws, with what to do, where the database cannot be used. */
  open(): SharedSpending;
  /** Nobody needs to know why spending is not noted, but a person may want to. */
  onTrouble(error: Error): void;
}

export class SharedAccounts {
  readonly #options: SharedBudgetsOptions;
  #accounts: SharedAccount[] | undefined;
  #loadedMs = performance.now();
  #version = '';
  /** What could not be settled when it was over; it counts at its estimate meanwhile. */
  readonly #unsettled = new Map<string, number>();

  constructor(options: SharedBudgetsOptions) {
    this.#options = options;
  }

  get accounts(): readonly SharedAccount[] {
    return (this.#accounts ??= sharedAccounts(this.#options.configs(), this.#options.repository));
  }

  /** Undefined where the account is not limited any more. */
  standing(id: string): Standing | undefined {
    const account = this.accounts.find((each) => each.id === id);
    return account && this.#held(() => this.#options.open().standing(account));
  }

  /** False where there is not as much left; throws where nobody can tell. */
  reserve(note: string, { usd, worstUsd }: { usd: number; worstUsd: number }): boolean {
    const limits = this.accounts.map((account) => ({ ...account, nextUsd: nextOf(account, worstUsd) }));
    const isHard = this.accounts.some(({ written }) => written.enforce === 'hard');
    const reserve = (): boolean => {
      this.#settleRest();
      return this.#options.open().reserve(this.#of(note), isHard ? worstUsd : usd, limits);
    };
    if (limits.length > 0) return this.#held(reserve);
    try {
      return reserve();
    } catch (error) {
      this.#options.onTrouble(error as Error);
      return true;
    }
  }

  /** Never throws. */
  settle(note: string, usd: number): void {
    this.#unsettled.set(note, usd);
    try {
      this.#settleRest();
    } catch (error) {
      if (this.accounts.length === 0) this.#unsettled.clear();
      this.#options.onTrouble(error as Error);
    }
  }

  /** For this day or month alone, and for all runs. */
  raise(id: string, usd: number): void {
    const account = this.accounts.find((each) => each.id === id);
    if (account) this.#held(() => this.#options.open().raise(account, usd));
  }

  /** Whether what was too little may be enough by now; to be asked now and then while something is held. */
  hasChanged(): boolean {
    const now = performance.now();
    if (now - this.#loadedMs > RELOAD_MS) {
      this.#loadedMs = now;
      try {
        this.#accounts = sharedAccounts(this.#options.configs(), this.#options.repository);
      } catch {
        // somebody is writing it
      }
      return true; // an engine may have died, which changes nothing in the database
    }
    const version = this.#held(() => this.#options.open().version());
    if (version === this.#version) return false;
    this.#version = version;
    return true;
  }

  #settleRest(): void {
    for (const [note, usd] of this.#unsettled) {
      this.#options.open().settle(this.#of(note), usd);
      this.#unsettled.delete(note);
    }
  }

  #of(note: string): { repository: string; run: string; note: string } {
    return { repository: this.#options.repository, run: this.#options.run, note };
  }

  #held<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      throw unheld(cause as Error);
    }
  }
}

export function unheld(cause: Error): BosunError {
  return new BosunError(
    'system',
    `the limits on spending (usd-per-day, usd-per-month) cannot be enforced: ${cause.message}`,
    { cause },
  );
}

/** The user's limits are for everything, those of a repository for what is spent there. */
export function sharedAccounts(configs: readonly ConfigFile[], repository: string): SharedAccount[] {
  return configs.flatMap(({ config: { budget }, isUsers }) => {
    if (!budget) return [];
    const { 'usd-per-day': day, 'usd-per-month': month, ...how } = budget;
    const of = isUsers ? undefined : repository;
    return Object.entries({ day, month }).flatMap(([period, usd]) =>
      usd === undefined
        ? []
        : [
            {
              id: `${isUsers ? 'all' : 'repository'}:${period}`,
              repository: of,
              period: period as 'day' | 'month',
              usd,
              written: { usd, ...how },
            },
          ],
    );
  });
}

/** A hard limit holds whatever an answer costs. */
function nextOf({ written }: SharedAccount, worstUsd: number): number {
  return written.enforce === 'hard' ? worstUsd : 0;
}
