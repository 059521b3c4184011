/** Budgets in words for people. Pure. */
import { formatCount } from '../../base/format-count.ts';
import type { BudgetMark } from '../../contract/event.ts';
import type { BudgetUnit } from '../../contract/workflow.ts';

/** Such as: the run has spent $4.98 of $5.00. */
export function describeBudget({ account, unit, spent, limit, next }: BudgetMark): string {
  const more = next === undefined ? '' : `, and the next request can cost up to ${describeUnit(unit, next)}`;
  return `${describeAccount(account)} has used ${describeUnit(unit, spent)} of ${describeUnit(unit, limit)}${more}`;
}

/** Whose budget it is: "the run", "agent critic", "the agent of task review", "task review". */
export function describeAccount(account: string): string {
  if (account === 'run') return 'the run';
  return account.replace(/^agent:task:/, 'the agent of task ').replace(/^(agent|task):/, '$1 ');
}

/** Why the budget of a run stopped it. */
export function describeStop(short: Pick<BudgetMark, 'unit' | 'next'> | undefined | null): string {
  if (short?.next === undefined) return 'its budget is spent';
  return `its budget is too small for the next request, which can cost up to ${describeUnit(short.unit, short.next)}`;
}

export function describeUnit(unit: BudgetUnit, value: number): string {
  if (unit === 'usd') return describeUsd(value);
  const rounded = unit === 'minutes' ? Math.round(value * 10) / 10 : Math.round(value);
  return `${formatCount(rounded)} ${unit}`;
}

/** Cents are nothing to look at where all of it is less than one. */
export function describeUsd(usd: number): string {
  return roundUsd(usd, usd !== 0 && usd < 0.1 ? 4 : 2);
}

/** Sums of the same fractions differ by how they were added up; what is shown must not. */
export function roundUsd(usd: number, digits: number): string {
  const scale = 10 ** digits;
  return `$${(Math.round(usd * scale + 1e-6) / scale).toFixed(digits)}`;
}
