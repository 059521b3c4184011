/** What the state of a run knows of budgets that it goes past: whether it may, and where it did. */
import type { Overrun } from '../../contract/run.ts';

export interface Overruns {
  /** It goes on past budgets that are not hard, with a warning: there is nobody to ask. */
  overBudget?: 'warn';
  /** Budgets that were spent, and raised without a person, the last ones. For people. */
  overruns: Overrun[];
}
