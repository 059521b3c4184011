/** What budgets are counted in. Apart from the schema of workflows, which takes longer to load than `status` has in all. */

export const BUDGET_UNITS = ['usd', 'tokens', 'requests', 'minutes'] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];
