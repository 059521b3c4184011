/**
 * What is reserved for requests to models that are under way, and settled when they are over. What is reserved lives
 * here alone and dies with the engine, as the requests do: the next one charges an estimate for these
 * (`lost-requests.ts`). It never waits: whether there is enough is looked at before.
 */
import { randomUUID } from 'node:crypto';
import type { Fact } from '../contract/event.ts';
import {
  tokensInAll,
  type Admission,
  type ModelUse,
  type RequestEstimate,
  type SettledUse,
  type Tokens,
} from '../contract/model.ts';
import { describeOverstated } from '../schedule/money/budget-words.ts';
import { isShared, spend } from '../schedule/money/budget.ts';
import { atWorst, worstOf } from '../schedule/money/worst-case.ts';
import type { Node } from '../schedule/state.ts';
import type { InFlight, Noted } from '../store/in-flight.ts';
import type { Account, Accounts } from './accounts.ts';
import type { Loop } from './loop.ts';
import type { SharedAccounts } from './shared-budgets.ts';

/** What an answer is expected to be long until some were seen. */
const OUTPUT_TOKENS_FIRST = 500;

export interface ReservationsOptions {
  loop: Pick<Loop, 'note'>;
  accounts: Accounts;
  /** Dollars for so many tokens of a model; null where nobody knows. */
  price(model: string, tokens: Tokens): number | null;
  /** Keeps note of what is under way. */
  inFlight?: Pick<InFlight, 'begin'> | undefined;
  /** What all runs of the user spend together. */
  shared?: SharedAccounts | undefined;
  /** Something that was reserved is not any more. */
  onFreed(): void;
}

export class Reservations {
  readonly #options: ReservationsOptions;
  /** A request is under way until the journal has what it used. */
  readonly #landings = new WeakMap<Fact, Noted>();
  /** Providers that reported more than can be. */
  readonly #overstating = new Set<string>();
  #outputTokens = OUTPUT_TOKENS_FIRST;

  constructor(options: ReservationsOptions) {
    this.#options = options;
  }

  /** It is in the journal. */
  heard(fact: Fact): void {
    this.#landings.get(fact)?.end();
  }

  /** Undefined where another engine has just reserved what was left. */
  make(node: Node, attempt: number, accounts: Account[], estimate: RequestEstimate): Admission | undefined {
    const { loop, accounts: book, price, inFlight, shared: sharedBudgets, onFreed } = this.#options;
    const output = Math.min(estimate.tokens.output, this.#outputTokens);
    const tokens = { ...estimate.tokens, output };
    const likely = { usd: price(estimate.model, tokens) ?? 0, tokens: tokensInAll(tokens) };
    const worst = worstOf(estimate);
    const { provider, model } = estimate;
    const usd = estimate.usd === null ? null : likely.usd;
    const guess: ModelUse = { provider, model, tokens, usd, estimated: true };
    const unheard = accounts.some((account) => book.isCapped(account)) ? atWorst(guess, estimate) : guess;
    let isReserved = false;
    let noted: Noted | undefined;
    let shared: string | undefined;
    const reserve = (isIt: boolean): boolean => {
      if (isReserved === isIt) return true;
      if (isIt && estimate.tokensMax > 0) {
        noted = inFlight?.begin({ task: node.id, attempt, use: unheard });
        shared = noted?.id ?? randomUUID();
        try {
          if (!(sharedBudgets?.reserve(shared, { usd: likely.usd, worstUsd: worst.usd }) ?? true))
            shared = undefined;
        } catch (error) {
          noted?.end();
          throw error;
        }
        if (shared === undefined) {
          noted?.end();
          return false;
        }
      }
      isReserved = isIt;
      const sign = isIt ? 1 : -1;
      for (const { reserved, isHard } of accounts) {
        reserved.usd += sign * (isHard ? worst.usd : likely.usd);
        reserved.tokens += sign * (isHard ? worst.tokens : likely.tokens);
        reserved.requests += sign;
      }
      return true;
    };
    const settleShared = (usd: number): void => {
      if (shared !== undefined) sharedBudgets?.settle(shared, usd);
      shared = undefined;
    };
    if (!reserve(true)) return undefined;
    let isSettled = false;
    const settle = (settled?: SettledUse): void => {
      if (isSettled) return;
      isSettled = true;
      reserve(false);
      const told = settled && this.#believable(settled);
      const isCapped = accounts.some((account) => book.isCapped(account));
      const use = told?.estimated && isCapped ? atWorst(told, estimate) : told;
      settleShared(use?.usd ?? 0);
      if (use) {
        this.#outputTokens += (use.tokens.output - this.#outputTokens) / 8;
        for (const account of accounts) {
          spend(account.spent, use);
          if (!isShared(account.id)) book.warn(account);
        }
        book.warnShared(accounts);
        const note = noted && { note: noted.id };
        const fact = { type: 'model.used' as const, task: node.id, attempt, ...use, ...note };
        if (noted) this.#landings.set(fact, noted);
        loop.note(fact);
      } else noted?.end();
      onFreed();
    };
    const pause = (): (() => boolean) => {
      reserve(false);
      settleShared(0);
      noted?.end();
      onFreed();
      return () => {
        try {
          return !isSettled && book.firstShortage(accounts, estimate) === undefined && reserve(true);
        } catch {
          return false; // it is admitted anew, which says why not
        }
      };
    };
    return { isAdmitted: true, settle, pause };
  }

  /** As the journal has it. Tells people once of a provider that reports what cannot be. */
  #believable({ overstated, ...use }: SettledUse): ModelUse {
    if (overstated && !this.#overstating.has(use.provider)) {
      this.#overstating.add(use.provider);
      this.#options.loop.note({ type: 'run.noted', text: describeOverstated(use.provider, overstated) });
    }
    return use;
  }
}
