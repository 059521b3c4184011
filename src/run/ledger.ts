/**
 * Holds every request to a model until it may be paid for: reserves before, settles after. A budget that asks at its
 * limit reserves what is likely, so that no more is overspent than the answers already under way; a hard one reserves
 * the worst case, and is never overspent. What was spent is a fold over the journal.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { BosunError } from '../contract/errors.ts';
import type { Fact } from '../contract/event.ts';
import type { Admission, RequestEstimate, Tokens } from '../contract/model.ts';
import { isShared } from '../schedule/money/budget.ts';
import { describeBudget, describeUnbounded, describeUnpriced } from '../schedule/money/budget-words.ts';
import type { Node } from '../schedule/state.ts';
import type { InFlight } from '../store/in-flight.ts';
import { DatabaseBusy } from '../store/machine/database.ts';
import { Accounts, type Account, type Shortage } from './accounts.ts';
import type { AskDesk } from './ask-desk.ts';
import { BudgetQuestions } from './budget-questions.ts';
import type { Loop } from './loop.ts';
import { Reservations } from './reservations.ts';
import type { SharedAccounts } from './shared-budgets.ts';
import { ToolLoops } from './tool-loops.ts';

const WAITING_MAX = 10_000;
/** People are told of a request that waits for what others have reserved. */
const PROMISED_MS = 3000;
/** While money that all runs share is waited for, it is looked at this often. */
const SHARED_POLL_MS = 250;
/** As often a database that another process has locked is tried again. */
const BUSY_TRIES_MAX = 20;

export interface LedgerOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'note' | 'isOver' | 'steadyMs'>;
  desk: AskDesk;
  /** Dollars for so many tokens of a model; null where nobody knows. */
  price(model: string, tokens: Tokens): number | null;
  /** Keeps note of what is under way. */
  inFlight?: Pick<InFlight, 'begin'>;
  /** What all runs of the user spend together. */
  shared?: SharedAccounts | undefined;
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #accounts: Accounts;
  readonly #reservations: Reservations;
  readonly #questions: BudgetQuestions;
  readonly #loops: ToolLoops;
  readonly #waiting = new Set<() => void>();
  /** Requests that are held, by attempt. */
  readonly #holds = new Map<string, number>();

  constructor(options: LedgerOptions) {
    const { loop, desk, shared } = options;
    this.#options = options;
    this.#accounts = new Accounts(loop, shared);
    this.#reservations = new Reservations({
      ...options,
      accounts: this.#accounts,
      onFreed: () => this.#wake(),
    });
    this.#questions = new BudgetQuestions({ loop, desk, shared, onAnswered: () => this.#wake() });
    this.#loops = new ToolLoops(desk);
  }

  /** Resolves when the request may go, or never may. */
  async admit(
    node: Node,
    attempt: number,
    estimate: RequestEstimate,
    signal: AbortSignal,
  ): Promise<Admission> {
    const looping = await this.#loops.check(node, attempt, estimate);
    if (looping !== undefined) return { ...refused(looping), kind: 'refused' };
    using held = new DisposableStack();
    let isHeld = false;
    let busy = 0;
    let showing: NodeJS.Timeout | undefined;
    const hold = (text: string): void => void (isHeld ||= !!held.use(this.#hold(node, attempt, text)));
    // Nothing waits in here but for a change: what holds when an account is looked at still holds when it is asked for.
    for (;;) {
      if (signal.aborted) return refused('the agent has gone');
      const accounts = this.#accounts.of(node);
      const refusal = accounts.find((account) => account.refusal !== undefined)?.refusal;
      if (refusal !== undefined) return refused(refusal);
      const unpriced =
        estimate.usd === null ? accounts.find((account) => this.#accounts.needsPrice(account)) : undefined;
      if (unpriced) return refused(describeUnpriced(unpriced.id, estimate.model));
      const boundless = estimate.isUnbounded && accounts.find((account) => this.#accounts.isCapped(account));
      if (boundless) return refused(describeUnbounded(boundless.id));
      let short: Shortage | undefined;
      try {
        short = this.#accounts.firstShortage(accounts, estimate);
        const admission = short ? undefined : this.#reservations.make(node, attempt, accounts, estimate);
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
        void this.#questions.ask(node, attempt, short.account, short.mark);
        if (this.#isAsked(short.account)) hold(describeBudget(short.mark));
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

  /** A person, who has to be waited for: not of a hard budget, nor where the run goes on past its own. */
  #isAsked({ id, isHard }: Account): boolean {
    return !isHard && (isShared(id) || this.#options.loop.state.overBudget !== 'warn');
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
      for (const account of this.#accounts.of(node, [])) {
        if (this.#accounts.limits(account).minutes === undefined) continue;
        this.#accounts.warn(account);
        const short = this.#accounts.shortage(account);
        if (short?.isSpent && short.mark.unit === 'minutes' && account.refusal === undefined)
          void this.#questions.ask(node, node.attempt, account, short.mark);
      }
    }
  }

  /** It is in the journal. */
  heard(fact: Fact): void {
    this.#reservations.heard(fact);
  }

  /** Limits were set anew. */
  changed(): void {
    for (const account of this.#accounts.known) delete account.refusal;
    this.#wake();
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
      for (const account of this.#accounts.known) {
        if (!isShared(account.id) || !account.isAsking || account.isFreed || this.#accounts.shortage(account))
          continue;
        this.#questions.free(account);
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
