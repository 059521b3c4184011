/** `bosun budget`: what a run has spent and may spend; with a limit, sets it. */
import { BUDGET_UNITS } from '../../../contract/budget-units.ts';
import { BosunError } from '../../../contract/errors.ts';
import { tokensInAll } from '../../../contract/model.ts';
import type { AccountView, Budgets, SharedBudgetView } from '../../../contract/outputs.ts';
import { describeAccount, describeUnit, describeUsd } from '../../../schedule/money/budget-words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const [first] = typed.args;
  if (first !== undefined && /^\$?\d+(\.\d+)?$/.test(first))
    throw new BosunError(
      'usage',
      `bosun budget takes a run, not ${first}; to set a limit in dollars: bosun budget --usd ${first.replace('$', '')}`,
    );
  if (isOn(typed, 'shared')) {
    const shared = await ask('sharedBudgets', {});
    if (isOn(typed, 'json')) writeOut(`${safeJson(shared)}\n`);
    else writeOut(shared.map((view) => sharedLine(view).trimStart()).join(''));
    if (shared.length === 0) writeError('all runs together have no limit for a day or a month\n');
    return 0;
  }
  const input = inputOf('setBudget', typed);
  const shared = inputOf('raiseSharedBudget', typed);
  const isRaised = Object.keys(shared).length > 0;
  if (isRaised) {
    const raised = await ask('raiseSharedBudget', shared);
    writeError(raised.map((view) => sharedLine(view).trimStart()).join(''));
  }
  if (BUDGET_UNITS.some((unit) => input[unit] !== undefined)) {
    const { run, account, limits, isLive, spent } = await ask('setBudget', input);
    const next = isLive ? '' : `; continue with: bosun resume ${run}`;
    writeError(`run ${run}: ${describeAccount(account)} may use ${wordsOf(limits).join(', ')}${next}\n`);
    if (spent !== undefined)
      writeError(
        `note: that is spent already (${wordsOf(spent).join(', ')}): ${isLive ? 'its agents wait, or stop, until the limit is raised' : 'it stops again before its next request'}\n`,
      );
  } else if (!isRaised) tell(await ask('budget', inputOf('budget', typed)), isOn(typed, 'json'));
  return 0;
}

function tell({ run, accounts, shared }: Budgets, asJson: boolean): void {
  if (asJson) writeOut(`${safeJson({ run, accounts, shared })}\n`);
  else writeOut([`${run}\n`, ...accounts.map(lineOf), ...shared.map(sharedLine)].join(''));
}

function lineOf({ account, limits, spending }: AccountView): string {
  const unknown =
    spending.unpriced > 0 ? `, ${describeUnit('requests', spending.unpriced)} of unknown price` : '';
  const usd = `${spending.estimated ? '~' : ''}${describeUsd(spending.usd)}${spending.estimated ? ' (estimated)' : ''}`;
  const spent = `${usd}, ${describeUnit('tokens', tokensInAll(spending.tokens))}, ${describeUnit('requests', spending.requests)}${unknown}`;
  const allowed = wordsOf(limits);
  return `  ${describeAccount(account)}: ${spent}${allowed.length > 0 ? `  of ${allowed.join(', ')}` : '  (no limit)'}\n`;
}

function sharedLine({ account, spentUsd, limitUsd }: SharedBudgetView): string {
  return `  ${describeAccount(account)}: ${describeUsd(spentUsd)}  of ${describeUsd(limitUsd)}\n`;
}

function wordsOf(limits: AccountView['limits']): string[] {
  return BUDGET_UNITS.flatMap((unit) =>
    limits[unit] === undefined ? [] : [describeUnit(unit, limits[unit])],
  );
}
