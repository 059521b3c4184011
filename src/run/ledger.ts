/**
 * Holds every request to a model until it may be paid for: reserves before, settles after. A budget that asks at its
 * limit reserves what is likely, so that no more is overspent than the answers already under way; a hard one reserves
 * the worst case, and is never overspent. What was spent is a fold over the journal; what is reserved lives here alone
 * and dies with the engine, as the requests do: the next one charges an estimate for these (`store/in-flight.ts`).
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { BosunError } from '../contract/errors.ts';
import type { BudgetMark, Fact } from '../contract/event.ts';
import {
  tokensInAll,
  type Admission,
  type ModelUse,
  type Spending,
  type Tokens,
  type RequestEstimate,
} from '../contract/model.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../contract/budget-units.ts';
import type { Budget } from '../contract/workflow.ts';
import type { InFlight, Noted } from '../store/in-flight.ts';
import { DatabaseBusy } from '../store/machine/database.ts';
import type { AskDesk } from './ask-desk.ts';
import type { SharedBudgets } from './shared-budgets.ts';
import {
  accountsOf,
  isShared,
  limitsOf,
  noSpending,
  spend,
  workedMs,
  type BudgetLimits,
  writtenBudgets,
} from '../schedule/money/budget.ts';
import type { Loop } from './loop.ts';
import type { Node } from '../schedule/state.ts';
import {
  describeBudget,
  describeUnbounded,
  describeUnit,
  describeUnpriced,
  sentence,
} from '../schedule/money/budget-words.ts';
import { atWorst, raised, worstOf } from '../schedule/money/worst-case.ts';

const WARN_AT = 0.8;
/** What an answer is expected to be long until some were seen. */
const OUTPUT_TOKENS_FIRST = 500;
/** A budget that nobody answers for stops the run, with all work kept: it can be raised and gone on with later. */
const ASK_MS = 15 * 60_000;
/** The same tool call this often in a row, and again after as many more, is asked about. */
const LOOP_TIMES = 10;
const WAITING_MAX = 10_000;
/** People are told of a request that waits for what others have reserved. */
const PROMISED_MS = 3000;
/** While money that all runs share is waited for, it is looked at this often. */
const SHARED_POLL_MS = 250;
/** As often a database that another process has locked is tried again. */
const BUSY_TRIES_MAX = 20;

interface Account {
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

interface Short {
  account: Account;
  mark: BudgetMark;
  /** Else it is only promised to requests that are under way. */
  isSpent: boolean;
}

export interface LedgerOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'note' | 'isOver' | 'steadyMs'>;
  desk: AskDesk;
  /** Dollars for so many tokens of a model; null where nobody knows. */
  price(model: string, tokens: Tokens): number | null;
  /** Keeps note of what is under way. */
  inFlight?: Pick<InFlight, 'begin'>;
  /** What all runs of the user spend together. */
  shared?: SharedBudgets | undefined;
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #accounts = new Map<string, Account>();
  readonly #waiting = new Set<() => void>();
  readonly #loops = new Map<string, number>();
  /** Requests that are held, by attempt. */
  readonly #holds = new Map<string, number>();
  /** A request is under way until the journal has what it used. */
  readonly #landings = new WeakMap<Fact, Noted>();
  #outputTokens = OUTPUT_TOKENS_FIRST;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** Resolves when the request may go, or never may. */
  async admit(
    node: Node,
    attempt: number,
    estimate: RequestEstimate,
    signal: AbortSignal,
  ): Promise<Admission> {
    const looping = await this.#checkLoop(node, attempt, estimate);
    if (looping !== undefined) return { ...refused(looping), kind: 'refused' };
    using held = new DisposableStack();
    let isHeld = false;
    let busy = 0;
    let showing: NodeJS.Timeout | undefined;
    const hold = (text: string): void => void (isHeld ||= !!held.use(this.#hold(node, attempt, text)));
    // Nothing waits in here but for a change: what holds when an account is looked at still holds when it is asked for.
    for (;;) {
      if (signal.aborted) return refused('the agent has gone');
      const accounts = this.#accountsOf(node);
      const refusal = accounts.find((account) => account.refusal !== undefined)?.refusal;
      if (refusal !== undefined) return refused(refusal);
      const unpriced =
        estimate.usd === null ? accounts.find((account) => this.#needsPrice(account)) : undefined;
      if (unpriced) return refused(describeUnpriced(unpriced.id, estimate.model));
      const boundless = estimate.isUnbounded && accounts.find((account) => this.#isCapped(account));
      if (boundless) return refused(describeUnbounded(boundless.id));
      let short: Short | undefined;
      try {
        short = this.#shortOf(accounts, estimate);
        const admission = short ? undefined : this.#reserve(node, attempt, accounts, estimate);
        if (admission) return admission;
      } catch (error) {
        if (!(error instanceof BosunError)) throw error;
        // A limit that cannot be held lets nothing go.
        if (!(error.cause instanceof DatabaseBusy) || busy++ > BUSY_TRIES_MAX) return refused(error.message);
        await sleep(SHARED_POLL_MS);
        continue;
      }
      if (short === undefined) {
        await turn(); // another engine was faster
        continue;
      }
      if (short.isSpent) {
        void this.#askFor(node, attempt, short.account, short.mark);
        if (!short.account.isHard) hold(describeBudget(short.mark)); // else nobody is waited for
      }
      if (!showing) {
        const text = `${describeBudget(short.mark)}; the rest is reserved for requests under way`;
        showing = setTimeout(hold, PROMISED_MS, text);
        held.defer(() => clearTimeout(showing));
      }
      if (this.#waiting.size >= WAITING_MAX) return refused('too many requests wait for the budget');
      await this.#change(signal, short.account);
    }
  }

  /** For people: several requests of an attempt may be held at once. */
  #hold(node: Node, attempt: number, text: string): Disposable {
    const key = `${node.id}@${attempt}`;
    const { loop } = this.#options;
    const count = this.#holds.get(key) ?? 0;
    this.#holds.set(key, count + 1);
    if (count === 0) loop.note({ type: 'attempt.held', task: node.id, attempt, by: 'budget', text });
    return {
      [Symbol.dispose]: () => {
        const left = this.#holds.get(key)! - 1;
        if (left > 0) this.#holds.set(key, left);
        else {
          this.#holds.delete(key);
          loop.note({ type: 'attempt.released', task: node.id, attempt });
        }
      },
    };
  }

  /** Looks at what only time can use up; to be called now and then. */
  lookAtClock(): void {
    for (const node of this.#options.loop.state.nodes.values()) {
      if (node.state !== 'running') continue;
      for (const account of this.#accountsOf(node, [])) {
        if (this.#limits(account).minutes === undefined) continue;
        this.#warn(account);
        const short = this.#short(account);
        if (short?.isSpent && short.mark.unit === 'minutes' && account.refusal === undefined)
          void this.#askFor(node, node.attempt, account, short.mark);
      }
    }
  }

  /** It is in the journal. */
  heard(fact: Fact): void {
    this.#landings.get(fact)?.end();
  }

  /** Limits were set anew. */
  changed(): void {
    for (const account of this.#accounts.values()) delete account.refusal;
    this.#wake();
  }

  /** Undefined where another engine has just reserved what was left. */
  #reserve(
    node: Node,
    attempt: number,
    accounts: Account[],
    estimate: RequestEstimate,
  ): Admission | undefined {
    const output = Math.min(estimate.tokens.output, this.#outputTokens);
    const tokens = { ...estimate.tokens, output };
    const likely = { usd: this.#options.price(estimate.model, tokens) ?? 0, tokens: tokensInAll(tokens) };
    const worst = worstOf(estimate);
    const { provider, model } = estimate;
    const usd = estimate.usd === null ? null : likely.usd;
    const guess: ModelUse = { provider, model, tokens, usd, estimated: true };
    const unheard = accounts.some((account) => this.#isCapped(account)) ? atWorst(guess, estimate) : guess;
    let isReserved = false;
    let noted: Noted | undefined;
    let shared: string | undefined;
    const reserve = (isIt: boolean): boolean => {
      if (isReserved === isIt) return true;
      if (isIt && estimate.tokensMax > 0) {
        noted = this.#options.inFlight?.begin({ task: node.id, attempt, use: unheard });
        shared = noted?.id ?? randomUUID();
        try {
          if (!(this.#options.shared?.reserve(shared, { usd: likely.usd, worstUsd: worst.usd }) ?? true))
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
      if (shared !== undefined) this.#options.shared?.settle(shared, usd);
      shared = undefined;
    };
    if (!reserve(true)) return undefined;
    let isSettled = false;
    const settle = (told?: ModelUse): void => {
      if (isSettled) return;
      isSettled = true;
      reserve(false);
      const isCapped = accounts.some((account) => this.#isCapped(account));
      const use = told?.estimated && isCapped ? atWorst(told, estimate) : told;
      settleShared(use?.usd ?? 0);
      if (use) {
        this.#outputTokens += (use.tokens.output - this.#outputTokens) / 8;
        for (const account of accounts) {
          spend(account.spent, use);
          if (!isShared(account.id)) this.#warn(account);
        }
        this.#warnShared(accounts);
        const note = noted && { note: noted.id };
        const fact = { type: 'model.used' as const, task: node.id, attempt, ...use, ...note };
        if (noted) this.#landings.set(fact, noted);
        this.#options.loop.note(fact);
      } else noted?.end();
      this.#wake();
    };
    const pause = (): (() => boolean) => {
      reserve(false);
      settleShared(0);
      noted?.end();
      this.#wake();
      return () => {
        try {
          return !isSettled && this.#shortOf(accounts, estimate) === undefined && reserve(true);
        } catch {
          return false; // it is admitted anew, which says why not
        }
      };
    };
    return { isAdmitted: true, settle, pause };
  }

  #shortOf(accounts: Account[], estimate: RequestEstimate): Short | undefined {
    return accounts.map((account) => this.#short(account, estimate)).find((found) => found !== undefined);
  }

  /** Why an account has nothing left. */
  #short(account: Account, estimate?: RequestEstimate): Short | undefined {
    const limits = this.#limits(account);
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
  #isCapped(account: Account): boolean {
    if (!account.isHard) return false;
    if (isShared(account.id)) return true; // it is there for its limit, which need not be looked up
    const { usd, tokens } = this.#limits(account);
    return usd !== undefined || tokens !== undefined;
  }

  /** With what a person set since; of what is shared, in whatever run. */
  #limits({ id, written }: Account): BudgetLimits {
    if (!isShared(id)) return limitsOf(this.#options.loop.state, id, written);
    const standing = this.#options.shared?.standing(id);
    return standing ? { usd: standing.limitUsd } : {};
  }

  #promised({ id, reserved }: Account): Account['reserved'] {
    const standing = isShared(id) ? this.#options.shared?.standing(id) : undefined;
    return standing ? { usd: standing.promisedUsd, tokens: 0, requests: standing.promisedCount } : reserved;
  }

  #spent({ id, spent }: Account, unit: BudgetUnit): number {
    if (unit === 'usd') return isShared(id) ? (this.#options.shared?.standing(id)?.spentUsd ?? 0) : spent.usd;
    if (unit === 'tokens') return tokensInAll(spent.tokens);
    if (unit === 'requests') return spent.requests;
    const clock = this.#options.loop.state.clocks.get(id);
    return clock ? workedMs(clock, this.#options.loop.steadyMs) / 60_000 : 0;
  }

  #warn(account: Account): void {
    const limits = this.#limits(account);
    for (const unit of BUDGET_UNITS) {
      const limit = limits[unit];
      const spent = this.#spent(account, unit);
      if (limit === undefined || spent < WARN_AT * limit || account.warned.has(unit)) continue;
      account.warned.add(unit);
      this.#options.loop.note({ type: 'budget.warned', account: account.id, unit, spent, limit });
    }
  }

  #warnShared(accounts: Account[]): void {
    try {
      for (const account of accounts) if (isShared(account.id)) this.#warn(account);
    } catch {
      // the next request is told
    }
  }

  async #askFor(node: Node, attempt: number, account: Account, mark: BudgetMark): Promise<void> {
    if (account.isAsking) return; // the answer is for all that wait
    account.isAsking = true;
    const raiseTo = raised(mark, account.written);
    const text = `${sentence(describeBudget(mark))}. Raise it to ${describeUnit(mark.unit, raiseTo)} and go on?`;
    const { isHard } = account;
    const answer = await this.#options.desk.ask(node.id, attempt, {
      id: `${account.id}+budget`,
      text,
      default: 'no',
      timeoutMs: ASK_MS,
      budget: { ...mark, raiseTo, isHard },
    });
    account.isAsking = false;
    const isFreed = account.isFreed;
    delete account.isFreed;
    if (answer === 'yes' && !isFreed && isShared(account.id))
      account.refusal ??= this.#raise(account.id, raiseTo);
    const what = mark.next === undefined ? 'the budget is spent' : 'the budget is too small for it';
    if (answer === 'no') account.refusal ??= `${what}: ${describeBudget(mark)}`;
    else account.warned.delete(mark.unit);
    this.#wake();
  }

  /** For all runs. Gives why that could not be written down. */
  #raise(account: string, usd: number): string | undefined {
    try {
      this.#options.shared?.raise(account, usd);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #checkLoop(node: Node, attempt: number, { loop }: RequestEstimate): Promise<string | undefined> {
    const key = `${node.id}@${attempt}`;
    if (loop === undefined || loop.times < (this.#loops.get(key) ?? LOOP_TIMES)) return undefined;
    this.#loops.set(key, loop.times + LOOP_TIMES);
    const answer = await this.#options.desk.ask(node.id, attempt, {
      id: `${node.id}+loop`,
      text: `It has called ${loop.tool} with the same input ${loop.times} times in a row. Let it go on?`,
      default: 'no',
      timeoutMs: ASK_MS,
    });
    return answer === 'yes'
      ? undefined
      : `it went round in circles: ${loop.tool} with the same input ${loop.times} times`;
  }

  #needsPrice(account: Account): boolean {
    const usd = isShared(account.id) || this.#limits(account).usd !== undefined;
    return usd && account.written?.['unknown-price'] !== 'allow';
  }

  #accountsOf(node: Node, shared = this.#options.shared?.accounts ?? []): Account[] {
    const { state } = this.#options.loop;
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

  #change(signal: AbortSignal, { id }: Account): Promise<void> {
    return new Promise((resolve) => {
      const poll = isShared(id) ? setInterval(() => this.#lookAtShared(), SHARED_POLL_MS) : undefined;
      const done = (): void => {
        clearInterval(poll);
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Other engines settle and raise, and days go by. */
  #lookAtShared(): void {
    try {
      if (!this.#options.shared?.hasChanged()) return;
      for (const account of this.#accounts.values()) {
        if (!isShared(account.id) || !account.isAsking || account.isFreed || this.#short(account)) continue;
        account.isFreed = true;
        const id = `${account.id}+budget`;
        this.#options.loop.submit({ type: 'question.answered', id, answer: 'yes', by: 'budget' });
      }
    } catch {
      // whoever waits is told when it looks
    }
    this.#wake();
  }

  /** The first that waits is looked at first. */
  #wake(): void {
    for (const done of Array.from(this.#waiting)) done();
  }
}

function refused(message: string): Extract<Admission, { isAdmitted: false }> {
  return { isAdmitted: false, message };
}
