/** `bosun budget`: what a run has spent and may spend; with a limit, sets it. */
import { BosunError } from '../../../contract/errors.ts';
import { tokensInAll } from '../../../contract/model.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../../../contract/budget-units.ts';
import { budgetsOf, setBudget, type AccountView } from '../../../operations/budget.ts';
import {
  raiseSharedBudget,
  sharedBudgetsOf,
  type SharedBudgetView,
} from '../../../operations/shared-budget.ts';
import { describeAccount, describeUnit, describeUsd } from '../../../schedule/money/budget-words.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const of = { cwd: process.cwd(), ...given('run', typed.args[0]) };
  const limits = limitsOf(typed);
  const shared = [
    { period: 'day', usd: numberOf(typed, 'usd-per-day', 'usdPerDay') },
    { period: 'month', usd: numberOf(typed, 'usd-per-month', 'usdPerMonth') },
  ] as const;
  for (const { period, usd } of shared) {
    if (usd === undefined) continue;
    const raised = await raiseSharedBudget({ cwd: of.cwd, period, usd });
    writeError(raised.map((view) => sharedLine(view).trimStart()).join(''));
  }
  if (Object.keys(limits).length > 0) {
    const set = await setBudget({ ...of, account: accountOf(typed), limits });
    const words = BUDGET_UNITS.flatMap((unit) =>
      limits[unit] === undefined ? [] : [describeUnit(unit, limits[unit])],
    );
    const next = set.isLive ? '' : `; continue with: bosun resume ${set.run}`;
    writeError(`run ${set.run}: ${describeAccount(set.account)} may use ${words.join(', ')}${next}\n`);
    return 0;
  }
  if (shared.some(({ usd }) => usd !== undefined)) return 0;
  await showBudgets(of, isOn(typed, 'json'));
  return 0;
}

async function showBudgets(of: { cwd: string; run?: string }, asJson: boolean): Promise<void> {
  const { run, accounts } = await budgetsOf(of);
  const shared = await sharedBudgetsOf(of.cwd);
  if (asJson) writeOut(`${safeJson({ run, accounts, shared })}\n`);
  else writeOut([`${run}\n`, ...accounts.map(lineOf), ...shared.map(sharedLine)].join(''));
}

function lineOf({ account, limits, spending }: AccountView): string {
  const unknown = spending.unpriced > 0 ? `, ${spending.unpriced} requests of unknown price` : '';
  const usd = `${spending.estimated ? '~' : ''}${describeUsd(spending.usd)}${spending.estimated ? ' (estimated)' : ''}`;
  const spent = `${usd}, ${describeUnit('tokens', tokensInAll(spending.tokens))}, ${describeUnit('requests', spending.requests)}${unknown}`;
  const allowed = BUDGET_UNITS.flatMap((unit) =>
    limits[unit] === undefined ? [] : [describeUnit(unit, limits[unit])],
  );
  return `  ${describeAccount(account)}: ${spent}${allowed.length > 0 ? `  of ${allowed.join(', ')}` : '  (no limit)'}\n`;
}

function sharedLine({ account, spentUsd, limitUsd }: SharedBudgetView): string {
  return `  ${describeAccount(account)}: ${describeUsd(spentUsd)}  of ${describeUsd(limitUsd)}\n`;
}

function limitsOf(typed: Typed): Partial<Record<BudgetUnit, number>> {
  const limits: Partial<Record<BudgetUnit, number>> = {};
  for (const unit of BUDGET_UNITS) {
    const value = numberOf(typed, unit);
    if (value !== undefined) limits[unit] = value;
  }
  return limits;
}

function numberOf(typed: Typed, option: string, name = option): number | undefined {
  const text = textOf(typed, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value))
    throw new BosunError('usage', `--${option} must be a number above 0, not "${text}"`);
  return value;
}

function accountOf(typed: Typed): string {
  const [agent, task] = [textOf(typed, 'agent'), textOf(typed, 'task')];
  if (agent !== undefined && task !== undefined)
    throw new BosunError('usage', 'use --agent or --task, not both');
  if (agent !== undefined) return `agent:${agent}`;
  return task === undefined ? 'run' : `task:${task}`;
}
