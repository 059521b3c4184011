/** Budgets in words for people. Pure. */
import { formatCount } from '../../base/format-count.ts';
import type { BudgetMark } from '../../contract/event.ts';
import type { BudgetUnit } from '../../contract/budget-units.ts';
import type { Tokens } from '../../contract/model.ts';
import { isShared } from './budget.ts';

/** Such as: the run has spent $4.98 of $5.00. */
export function describeBudget({ account, unit, spent, limit, next }: BudgetMark): string {
  const more = next === undefined ? '' : `, and the next request can cost up to ${describeUnit(unit, next)}`;
  return `${describeAccount(account)} ${isShared(account) ? 'have' : 'has'} used ${describeUnit(unit, spent)} of ${describeUnit(unit, limit)}${more}`;
}

/** The question of whoever holds requests until there is more. */
export function askForMore(mark: BudgetMark, raiseTo: number): string {
  return `${sentence(describeBudget(mark))}. Raise it to ${describeUnit(mark.unit, raiseTo)} and go on?`;
}

/** Nobody was to be asked: that is said wherever the run is looked at, so that somebody can stop it. */
export function describeOverrun(mark: BudgetMark & { raisedTo: number }): string {
  return `${describeBudget(mark)} and went on, since nobody was to be asked; the next warning comes at ${describeUnit(mark.unit, mark.raisedTo)}`;
}

/** Whose budget it is: "the run", "agent critic", "the agent of task review", "task review". */
export function describeAccount(account: string): string {
  if (account === 'run') return 'the run';
  if (isShared(account)) {
    const [whose, period] = account.split(':');
    return `all runs${whose === 'all' ? '' : ' in this repository'} ${period === 'day' ? 'today' : 'this month'}`;
  }
  return account.replace(/^agent:task:/, 'the agent of task ').replace(/^(agent|task):/, '$1 ');
}

/** Why the budget of a run stopped it. */
export function describeStop(
  short: (Pick<BudgetMark, 'unit' | 'next'> & { account?: string }) | undefined | null,
): string {
  const account = short?.account;
  const whose =
    account !== undefined && isShared(account) ? `the budget of ${describeAccount(account)}` : 'its budget';
  if (short?.next === undefined) return `${whose} is spent`;
  return `${whose} is too small for the next request, which can cost up to ${describeUnit(short.unit, short.next)}`;
}

export function describeUnit(unit: BudgetUnit, value: number): string {
  if (unit === 'usd') return describeUsd(value);
  const rounded = unit === 'minutes' ? Math.round(value * 10) / 10 : Math.round(value);
  return `${formatCount(rounded)} ${rounded === 1 ? unit.slice(0, -1) : unit}`;
}

/** Cents are nothing to look at where all of it is less than one. */
export function describeUsd(usd: number): string {
  return writeUsd(usd, usd !== 0 && usd < 0.1 ? 4 : 2);
}

/** Sums of the same fractions differ by how they were added up; what is shown must not. */
export function writeUsd(usd: number, digits: number): string {
  const scale = 10 ** digits;
  return `$${(Math.round(usd * scale + 1e-6) / scale).toFixed(digits)}`;
}

export function describeUnbounded(account: string): string {
  return `the hard budget of ${describeAccount(account)} allows no request with input whose tokens nobody can tell (what the provider stores or fetches, such as previous_response_id, file_id or an address; documents; sound): send it as text, or use "enforce: ask"`;
}

export function describeUnpriced(account: string, model: string): string {
  return `the price is unknown for ${model || 'what is asked for'}, and ${describeAccount(account)} ${isShared(account) ? 'have' : 'has'} a budget in dollars: add it to "prices" of the configuration, or say "unknown-price: allow" in the budget`;
}

/** Said once for each provider. */
export function describeOverstated(provider: string, told: Tokens): string {
  const input = formatCount(told.input + told.cacheRead + told.cacheWrite);
  return `${provider} reported more tokens than a request can have used (${input} in, ${formatCount(told.output)} out): what is impossible is not charged, here and from now on, and such requests count as estimates; check who answers at ${provider}`;
}

export function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
