/** What a run may spend: shown, and set anew while it waits, works, or before it is gone on with. */
import { BosunError } from '../contract/errors.ts';
import type { Spending } from '../contract/model.ts';
import type { BudgetUnit } from '../contract/budget-units.ts';
import { loadRun } from '../run/load-run.ts';
import {
  accountsOf,
  limitsOf,
  noSpending,
  ownAgentAccount,
  RUN_ACCOUNT,
  writtenBudgets,
  type BudgetLimits,
} from '../schedule/money/budget.ts';
import type { State } from '../schedule/state.ts';
import { openEngine } from '../run/open-engine.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';

export interface BudgetOptions {
  cwd: string;
  run?: string;
}

export interface AccountView {
  account: string;
  limits: BudgetLimits;
  spending: Spending;
}

export async function budgetsOf(options: BudgetOptions): Promise<{ run: string; accounts: AccountView[] }> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const { state } = await loadRun(journal.store, run.id);
  return { run: run.id, accounts: viewsOf(state) };
}

export interface SetBudgetOptions extends BudgetOptions {
  /** `run`, `agent:<name>` (the task's, for an agent that is written in it) or `task:<id>`. */
  account: string;
  limits: Partial<Record<BudgetUnit, number>>;
}

/** Takes effect at once where an engine drives the run; else when it is gone on with. */
export async function setBudget(
  options: SetBudgetOptions,
): Promise<{ run: string; account: string; isLive: boolean }> {
  const { limits } = options;
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  if (run.state === 'done')
    throw new BosunError('wrong-state', `run ${run.id} is done; nothing of it costs anything any more`);
  const { state } = await loadRun(journal.store, run.id);
  const account = requireAccount(state, options.account);
  const isLive = ['running', 'cancelling'].includes(await shownState(journal, run));
  if (isLive) await journal.store.request(run.id, { do: 'budget', account, limits, by: 'person' });
  else {
    await using engine = await openEngine(options.cwd);
    const drive = await engine.drive(run.id);
    await drive.note([{ type: 'budget.set', account, limits, by: 'person' }]);
  }
  return { run: run.id, account, isLive };
}

function viewsOf(state: State): AccountView[] {
  const written = new Map([...state.nodes.values()].flatMap((node) => [...writtenBudgets(state, node)]));
  const accounts = new Set([RUN_ACCOUNT, ...written.keys(), ...state.limits.keys()]);
  return [...accounts].map((account) => ({
    account,
    limits: limitsOf(state, account, written.get(account)),
    spending: state.spending.get(account) ?? noSpending(),
  }));
}

function requireAccount(state: State, said: string): string {
  const known = new Set([...state.nodes.values()].flatMap(accountsOf));
  if (said === RUN_ACCOUNT || known.has(said)) return said;
  const [kind, name] = said.split(/:(.*)/s);
  const task = [...state.nodes.values()].find(({ id, label }) => label === name || id === name)?.id;
  // An agent that is written in a task has no name but the task's.
  const account = kind === 'agent' ? ownAgentAccount(`${task}`) : `task:${task}`;
  if (known.has(account)) return account;
  throw new BosunError('not-found', `run ${state.id} has no ${kind} ${name}`);
}
