/**
 * The budgets that requests of a run are paid from: what each allows, has spent and has promised. It says when one is
 * nearly spent; it holds no request and asks nobody.
 */
import type { BudgetMark } from '../contract/event.ts';
import { tokensInAll, type RequestEstimate, type Spending } from '../contract/model.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../contract/budget-units.ts';
import type { Budget } from '../contract/workflow.ts';
import {
  accountsOf,
  isShared,
  limitsOf,
  noSpending,
  workedMs,
  writtenBudgets,
  type BudgetLimits,
} from '../schedule/money/budget.ts';
import { worstOf } from '../schedule/money/worst-case.ts';
import type { Node } from '../schedule/state.ts';
import type { Loop } from './loop.ts';
import type { SharedAccounts } from './shared-budgets.ts';

const WARN_AT = 0.8;

export interface Account {
  id: string;
  written: Budget | undefined;
  isHard: boolean;
  spent: Spending;
  reserved: { usd: number; tokens: number; requests: number };
  warned: Set<BudgetUnit>;
  isAsking: boolean;
  /** What was asked for is there without an answer: another run raised it, or another day has begun. */
  isFreed?: boolean;
  refusal?: string | undefined;
}

export interface Shortage {
  account: Account;
  mark: BudgetMark;
  /** Else it is only promised to requests that are under way. */
  isSpent: boolean;
}

export class Accounts {
  readonly #loop: Pick<Loop, 'state' | 'note' | 'steadyMs'>;
  readonly #shared: SharedAccounts | undefined;
  readonly #accounts = new Map<string, Account>();

  constructor(loop: Pick<Loop, 'state' | 'note' | 'steadyMs'>, shared: SharedAccounts | undefined) {
    this.#loop = loop;
    this.#shared = shared;
  }

  /** Those that a task's requests are paid from. */
  of(node: Node, shared = this.#shared?.accounts ?? []): Account[] {
    const { state } = this.#loop;
    const written = writtenBudgets(state, node);
    for (const each of shared) written.set(each.id, each.written);
    return [...accountsOf(node), ...shared.map(({ id }) => id)].map((id) => {
      const budget = written.get(id);
      const isHard = budget?.enforce === 'hard';
      let account = this.#accounts.get(id);
      if (!account) {
        const spent = structuredClone(state.spending.get(id) ?? noSpending());
        const reserved = { usd: 0, tokens: 0, requests: 0 };
        account = { id, written: budget, isHard, spent, reserved, warned: new Set(), isAsking: false };
        this.#accounts.set(id, account);
      } else if (isShared(id)) Object.assign(account, { written: budget, isHard }); // read again meanwhile
      return account;
    });
  }

  /** All that requests were paid from so far. */
  get known(): Iterable<Account> {
    return this.#accounts.values();
  }

  firstShortage(accounts: Account[], estimate: RequestEstimate): Shortage | undefined {
    return accounts.map((account) => this.shortage(account, estimate)).find((found) => found !== undefined);
  }

  /** Why an account has nothing left. */
  shortage(account: Account, estimate?: RequestEstimate): Shortage | undefined {
    const limits = this.limits(account);
    const reserved = this.#promised(account);
    const promised = { usd: reserved.usd, tokens: reserved.tokens, requests: reserved.requests, minutes: 0 };
    const worst = estimate && account.isHard ? worstOf(estimate) : { usd: 0, tokens: 0 };
    const next = { ...worst, requests: 0, minutes: 0 };
    for (const unit of BUDGET_UNITS) {
      const limit = limits[unit];
      if (limit === undefined) continue;
      const spent = this.#spent(account, unit);
      const taken = spent + promised[unit];
      if (taken < limit && taken + next[unit] <= limit) continue;
      const isSpent = spent >= limit || (reserved.requests === 0 && spent + next[unit] > limit);
      const more = spent < limit && next[unit] > 0 && { next: next[unit] };
      return { account, mark: { account: account.id, unit, spent, limit, ...more }, isSpent };
    }
    return undefined;
  }

  /** It has a limit that must hold whatever an answer costs. Never fails: what was used is settled in any case. */
  isCapped(account: Account): boolean {
    if (!account.isHard) return false;
    if (isShared(account.id)) return true; // it is there for its limit, which need not be looked up
    const { usd, tokens } = this.limits(account);
    return usd !== undefined || tokens !== undefined;
  }

  needsPrice(account: Account): boolean {
    const usd = isShared(account.id) || this.limits(account).usd !== undefined;
    return usd && account.written?.['unknown-price'] !== 'allow';
  }

  /** With what a person set since; of what is shared, in whatever run. */
  limits({ id, written }: Account): BudgetLimits {
    if (!isShared(id)) return limitsOf(this.#loop.state, id, written);
    const standing = this.#shared?.standing(id);
    return standing ? { usd: standing.limitUsd } : {};
  }

  warn(account: Account): void {
    const limits = this.limits(account);
    for (const unit of BUDGET_UNITS) {
      const limit = limits[unit];
      const spent = this.#spent(account, unit);
      if (limit === undefined || spent < WARN_AT * limit || account.warned.has(unit)) continue;
      account.warned.add(unit);
      this.#loop.note({ type: 'budget.warned', account: account.id, unit, spent, limit });
    }
  }

  warnShared(accounts: Account[]): void {
    try {
      for (const account of accounts) if (isShared(account.id)) this.warn(account);
    } catch {
      // the next request is told
    }
  }

  #promised({ id, reserved }: Account): Account['reserved'] {
    const standing = isShared(id) ? this.#shared?.standing(id) : undefined;
    return standing ? { usd: standing.promisedUsd, tokens: 0, requests: standing.promisedCount } : reserved;
  }

  #spent({ id, spent }: Account, unit: BudgetUnit): number {
    if (unit === 'usd') return isShared(id) ? (this.#shared?.standing(id)?.spentUsd ?? 0) : spent.usd;
    if (unit === 'tokens') return tokensInAll(spent.tokens);
    if (unit === 'requests') return spent.requests;
    const clock = this.#loop.state.clocks.get(id);
    return clock ? workedMs(clock, this.#loop.steadyMs) / 60_000 : 0;
  }
}
