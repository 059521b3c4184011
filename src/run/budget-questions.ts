/** Asks a person for more budget, once for all requests that wait for it. Whether the run goes on is decided elsewhere. */
import type { BudgetMark } from '../contract/event.ts';
import { isShared } from '../schedule/money/budget.ts';
import { askForMore, describeBudget } from '../schedule/money/budget-words.ts';
import { raised } from '../schedule/money/worst-case.ts';
import type { Node } from '../schedule/state.ts';
import type { Account } from './accounts.ts';
import type { AskDesk } from './ask-desk.ts';
import type { Loop } from './loop.ts';
import type { SharedAccounts } from './shared-budgets.ts';

/** A budget that nobody answers for stops the run, with all work kept: it can be raised and gone on with later. */
const ASK_MS = 15 * 60_000;

export interface BudgetQuestionsOptions {
  loop: Pick<Loop, 'submit'>;
  desk: AskDesk;
  shared?: SharedAccounts | undefined;
  onAnswered(): void;
}

export class BudgetQuestions {
  readonly #options: BudgetQuestionsOptions;

  constructor(options: BudgetQuestionsOptions) {
    this.#options = options;
  }

  async ask(node: Node, attempt: number, account: Account, mark: BudgetMark): Promise<void> {
    if (account.isAsking) return; // the answer is for all that wait
    account.isAsking = true;
    const raiseTo = raised(mark, account.written);
    const text = askForMore(mark, raiseTo);
    const { isHard } = account;
    const { answer } = await this.#options.desk.ask(node.id, attempt, {
      id: questionOf(account),
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
    this.#options.onAnswered();
  }

  /** What was asked for is there meanwhile. */
  free(account: Account): void {
    account.isFreed = true;
    const id = questionOf(account);
    this.#options.loop.submit({ type: 'question.answered', id, answer: 'yes', by: 'budget' });
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
}

function questionOf({ id }: Account): string {
  return `${id}+budget`;
}
