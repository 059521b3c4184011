/** What a run may spend: shown, and set anew while it waits, works, or before it is gone on with. */
import { BosunError } from '../contract/errors.ts';
import { BUDGET_UNITS } from '../contract/budget-units.ts';
import type { Asked, Reading } from '../contract/operations.ts';
import type { AccountView, Budgets, BudgetSet } from '../contract/outputs.ts';
import { tokensInAll } from '../contract/model.ts';
import { isOpen } from '../contract/run.ts';
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
import { findRun, openJournal, requireOneRun, shownState } from '../run/journal.ts';
import { sharedBudgetsOf } from './shared-budget.ts';

export async function budgetsOf(options: Reading<'budget'>): Promise<Budgets> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const { state } = await loadRun(journal.store, run.id);
  return {
    run: run.id,
    accounts: viewsOf(state),
    shared: await sharedBudgetsOf(options.cwd),
    overruns: state.overruns,
  };
}

/** Takes effect at once where an engine drives the run; else when it is gone on with. */
export async function setBudget(options: Asked<'setBudget'>): Promise<BudgetSet> {
  const { by } = options;
  const limits = Object.fromEntries(
    BUDGET_UNITS.flatMap((unit) => (options[unit] === undefined ? [] : [[unit, options[unit]]])),
  ) as BudgetLimits;
  if (Object.keys(limits).length === 0)
    throw new BosunError('usage', `set a limit: one of ${BUDGET_UNITS.join(', ')}`);
  await using journal = await openJournal(options.cwd);
  const run = await requireOneRun(journal, options.run, 'bosun budget <run> …');
  if (run.state === 'done')
    throw new BosunError('wrong-state', `run ${run.id} is done; nothing of it costs anything any more`);
  const { state } = await loadRun(journal.store, run.id);
  const account = requireAccount(state, accountOf(options));
  const shown = await shownState(journal, run);
  const isLive = isOpen({ state: shown }) && shown !== 'pending';
  if (isLive || shown === 'pending')
    await journal.store.request(run.id, { do: 'budget', account, limits, by });
  else {
    await using engine = await openEngine(options.cwd);
    const drive = await engine.drive(run.id);
    await drive.note([{ type: 'budget.set', account, limits, by }]);
  }
  const spent = overLimits(state, account, limits);
  return { run: run.id, account, limits, isLive, ...(spent && { spent }) };
}

/** Of the limits that are new, what is spent of those that do not even allow that; undefined where all do. */
function overLimits(state: State, account: string, limits: BudgetLimits): BudgetLimits | undefined {
  const spending = state.spending.get(account) ?? noSpending();
  const spent = { ...spending, tokens: tokensInAll(spending.tokens) };
  const over = (['usd', 'tokens', 'requests'] as const).filter(
    (unit) => limits[unit] !== undefined && spent[unit] >= limits[unit] && spent[unit] > 0,
  );
  return over.length === 0 ? undefined : Object.fromEntries(over.map((unit) => [unit, spent[unit]]));
}

function accountOf({ agent, task }: Asked<'setBudget'>): string {
  if (agent !== undefined) return `agent:${agent}`;
  return task === undefined ? RUN_ACCOUNT : `task:${task}`;
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
