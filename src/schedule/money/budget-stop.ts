/** Which answer ends a run because its budget is spent. Pure, and the one rule for state, report and log. */
import type { BudgetMark, EventOf } from '../../contract/event.ts';
import { isWholeRun } from './budget.ts';

/** The budget that was too small; undefined where the run goes on, or the question ended with whoever asked it. */
export function budgetStop(
  { answer, by }: EventOf<'attempt.answered'>,
  asked: BudgetMark | undefined,
): BudgetMark | undefined {
  if (answer !== 'no' || by === 'ended' || !asked || !isWholeRun(asked.account)) return undefined;
  const { account, unit, spent, limit, next } = asked;
  return { account, unit, spent, limit, ...(next !== undefined && { next }) };
}
