/** What a run and its parts may spend and have spent, as its accounts have it, and what was said about it. */
import type { BudgetReport } from '../contract/report.ts';
import { tokensInAll } from '../contract/model.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../contract/budget-units.ts';
import type { Budget } from '../contract/workflow.ts';
import type { History } from '../schedule/history/history.ts';
import { HISTORY_LIMITS } from '../schedule/history/limits.ts';
import { accountsOf, limitsOf, noSpending, workedMs, writtenBudgets } from '../schedule/money/budget.ts';
import { roundUsd } from '../schedule/money/cost.ts';
import type { State } from '../schedule/state.ts';

/** The run first, then agents and tasks as they are written; only those that have a limit. */
export function budgetReports(state: State, { budgets }: History): BudgetReport[] {
  const accounts = new Map<string, Budget | undefined>();
  for (const node of state.nodes.values()) {
    const written = writtenBudgets(state, node);
    for (const account of accountsOf(node))
      if (!accounts.has(account)) accounts.set(account, written.get(account));
  }
  const reports = [...accounts].map(([account, written]): BudgetReport => {
    const may = limitsOf(state, account, written);
    const limits = BUDGET_UNITS.flatMap((unit) => {
      const limit = may[unit];
      return limit === undefined ? [] : [{ unit, limit, spent: spentOf(state, account, unit) }];
    });
    return { account, limits, ...(budgets.get(account) ?? { warnings: [], raises: [] }) };
  });
  const rank = ({ account }: BudgetReport): number =>
    ['run', 'agent', 'task'].indexOf(account.split(':')[0]!);
  return reports
    .filter(({ limits }) => limits.length > 0)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, HISTORY_LIMITS.listEntries);
}

function spentOf({ spending, clocks, lastAtMs }: State, account: string, unit: BudgetUnit): number {
  if (unit === 'minutes') {
    const clock = clocks.get(account);
    return clock ? workedMs(clock, lastAtMs) / 60_000 : 0;
  }
  const { usd, tokens, requests } = spending.get(account) ?? noSpending();
  return { usd: roundUsd(usd), tokens: tokensInAll(tokens), requests }[unit];
}
