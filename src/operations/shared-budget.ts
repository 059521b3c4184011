/** What all runs of a user have spent today and this month, and may spend: shown, and raised for that day or month. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { SharedBudgetView } from '../contract/outputs.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import type { SharedAccounts } from '../run/shared-budgets.ts';
import { SharedMachine } from '../run/shared-machine.ts';
import { Home } from '../store/home.ts';
import { findGit } from '../system/files/state-directory.ts';

/** Only those that have a limit. */
export function sharedBudgetsOf(cwd: string): Promise<SharedBudgetView[]> {
  return withBudgets(cwd, viewsOf);
}

/** Never lowers one. Takes effect at once, for all runs. */
export function raiseSharedBudget(options: Reading<'raiseSharedBudget'>): Promise<SharedBudgetView[]> {
  const { cwd, usdPerDay, usdPerMonth } = options;
  return withBudgets(cwd, (budgets) => [
    ...(usdPerDay === undefined ? [] : raise(budgets, 'day', usdPerDay)),
    ...(usdPerMonth === undefined ? [] : raise(budgets, 'month', usdPerMonth)),
  ]);
}

function raise(budgets: SharedAccounts, period: 'day' | 'month', usd: number): SharedBudgetView[] {
  const raised = budgets.accounts.filter((account) => account.period === period);
  if (raised.length === 0)
    throw new BosunError(
      'usage',
      `there is no limit for a ${period} to raise; set one in ${userConfigFile()}: budget: { usd-per-${period}: ${usd} }`,
    );
  for (const { id } of raised) budgets.raise(id, usd);
  return viewsOf(budgets).filter(({ account }) => raised.some(({ id }) => id === account));
}

function viewsOf(budgets: SharedAccounts): SharedBudgetView[] {
  return budgets.accounts.flatMap(({ id: account }) => {
    const standing = budgets.standing(account);
    return standing ? [{ account, spentUsd: standing.spentUsd, limitUsd: standing.limitUsd }] : [];
  });
}

async function withBudgets<T>(cwd: string, action: (budgets: SharedAccounts) => T): Promise<T> {
  const git = findGit(cwd);
  if (!git) throw new BosunError('no-repository', `${cwd} is not in a git repository; go to one`);
  const home = new Home(git);
  const configs = loadConfigs([home.config, userConfigFile()]);
  await using machine = new SharedMachine({
    repository: home.directory,
    configs: () => configs,
  });
  return action(machine.budgets('')!);
}
