/** What a run and its parts might spend, what they did spend, and what was said about it, for a report. */
import type { EventOf } from '../../contract/event.ts';
import type { AttemptReport, BudgetReport, Cost } from '../../contract/report.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../../contract/budget-units.ts';
import type { Budget } from '../../contract/workflow.ts';
import { ownAgentAccount } from '../../schedule/money/budget.ts';
import { sumCosts } from '../cost.ts';
import type { FoldedRun } from './fold.ts';
import type { Folded } from './tasks.ts';
import { LIMITS } from '../limits.ts';

type Told = Pick<BudgetReport, 'warnings' | 'raises'>;

/** By account: what was told of it while the run went on. */
export type Budgets = Map<string, Told>;

export function noteWarning(
  budgets: Budgets,
  { account, unit, spent, limit }: EventOf<'budget.warned'>,
  atMs: number,
): void {
  const { warnings } = toldOf(budgets, account);
  if (warnings.length < LIMITS.listEntries) warnings.push({ atMs, unit, spent, limit });
}

export function noteLimits(
  budgets: Budgets,
  { account, limits, by }: Pick<EventOf<'budget.set'>, 'account' | 'limits' | 'by'>,
  atMs: number,
): void {
  const { raises } = toldOf(budgets, account);
  for (const unit of BUDGET_UNITS) {
    const limit = limits[unit];
    if (limit !== undefined && raises.length < LIMITS.listEntries) raises.push({ atMs, unit, limit, by });
  }
}

/** The run first, then agents and tasks as they are written; only those that have a limit. */
export function budgetReports(run: FoldedRun): BudgetReport[] {
  const accounts = new Map<string, { written: Budget | undefined; tasks: Set<Folded> }>();
  const add = (account: string, written: Budget | undefined, task: Folded): void => {
    let known = accounts.get(account);
    if (!known) accounts.set(account, (known = { written, tasks: new Set() }));
    known.tasks.add(task);
  };
  for (const task of run.tasks.values()) {
    add('run', run.created.workflow.budget, task);
    for (const payer of payersOf(run, task)) add(...accountOf(run, payer), task);
    const runtime = sharedRuntimeOf(task);
    if (runtime !== undefined) add(`agent:${withinOf(run, task)}${runtime}`, undefined, task);
    for (let at: Folded | undefined = task; at; at = parentOf(run, at)) {
      const { budget, uses } = at.definition;
      add(`task:${at.report.id}`, budget ?? at.workflow.nested?.[uses ?? '']?.budget, task);
    }
  }
  const reports = [...accounts].map(([account, { written, tasks }]): BudgetReport => {
    const told = run.budgets.get(account) ?? { warnings: [], raises: [] };
    const attempts = [...tasks].flatMap(({ report }) => report.attempts);
    const limits = BUDGET_UNITS.flatMap((unit) => {
      const limit = told.raises.findLast((each) => each.unit === unit)?.limit ?? written?.[unit];
      return limit === undefined ? [] : [{ unit, limit, spent: spentOf(unit, attempts, run.lastAtMs) }];
    });
    return { account, limits, ...told };
  });
  const rank = ({ account }: BudgetReport): number =>
    ['run', 'agent', 'task'].indexOf(account.split(':')[0]!);
  return reports
    .filter(({ limits }) => limits.length > 0)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, LIMITS.listEntries);
}

function spentOf(unit: BudgetUnit, attempts: AttemptReport[], nowMs: number): number {
  if (unit === 'minutes') {
    const times = attempts.map(({ startedAtMs, endedAtMs }) => [startedAtMs, endedAtMs ?? nowMs] as const);
    return lengthMs(times) / 60_000;
  }
  const cost: Cost = sumCosts(attempts.map((attempt) => attempt.cost));
  return { usd: cost.usdKnown, tokens: cost.tokens ?? 0, requests: cost.requests }[unit];
}

/** How long it was, what overlaps counted once. */
export function lengthMs(times: (readonly [fromMs: number, toMs: number])[]): number {
  let sumMs = 0;
  let untilMs = -Infinity;
  for (const [fromMs, toMs] of times.toSorted((a, b) => a[0] - b[0])) {
    sumMs += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return sumMs;
}

/** Tasks whose agents' money a task spends: its own, and planners' where a plan made up its agent. */
function payersOf(run: FoldedRun, task: Folded): Folded[] {
  const payers = task.definition.agent === undefined ? [] : [task];
  if (typeof task.definition.agent !== 'object') return payers;
  for (let at = parentOf(run, task); at && at.report.group !== 'uses'; at = parentOf(run, at))
    if (at.definition.expand && at.definition.agent !== undefined) payers.push(at);
  return payers;
}

function accountOf(run: FoldedRun, task: Folded): [account: string, written: Budget | undefined] {
  const agent = task.definition.agent!;
  if (typeof agent === 'string')
    return [`agent:${withinOf(run, task)}${agent}`, task.workflow.agents[agent]?.budget];
  const parent = parentOf(run, task);
  const whole = parent?.report.group === 'for-each' ? parent : task; // its items are one
  return [ownAgentAccount(whole.report.id), agent.budget];
}

/** Only a person can have limited what agents on a runtime spend together. */
function sharedRuntimeOf({ definition: { agent }, workflow }: Folded): string | undefined {
  return typeof agent === 'object' && !Object.hasOwn(workflow.agents, agent.runtime)
    ? agent.runtime
    : undefined;
}

/** Agents of a workflow that is used by another one are its own. */
function withinOf(run: FoldedRun, task: Folded): string {
  for (let at = parentOf(run, task); at; at = parentOf(run, at))
    if (at.report.group === 'uses') return `${at.report.id}/`;
  return '';
}

function parentOf(run: FoldedRun, { report }: Folded): Folded | undefined {
  return report.parent === null ? undefined : run.tasks.get(report.parent);
}

function toldOf(budgets: Budgets, account: string): Told {
  let told = budgets.get(account);
  if (!told) budgets.set(account, (told = { warnings: [], raises: [] }));
  return told;
}
