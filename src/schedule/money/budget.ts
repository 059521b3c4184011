/** Who pays for what: the accounts of a task, what each may spend and has spent. Pure. */
import { NO_TOKENS, type ModelUse, type Spending } from '../../contract/model.ts';
import { BUDGET_UNITS, type BudgetUnit } from '../../contract/budget-units.ts';
import type { Budget } from '../../contract/workflow.ts';
import { agentOf } from '../workflow/agent-of.ts';
import { writtenAs, type Node, type State } from '../state.ts';

export const RUN_ACCOUNT = 'run';

/** Those of days and months, which all runs of a user share: the machine knows them, no journal. */
export function isShared(account: string): boolean {
  return account.startsWith('all:') || account.startsWith('repository:');
}

/** Without its money nothing of the run goes on. */
export function isWholeRun(account: string): boolean {
  return account === RUN_ACCOUNT || isShared(account);
}

export type BudgetLimits = Partial<Record<BudgetUnit, number>>;

/** The run, the agent, whoever's plan made up that agent or whose child it is, the task, and every task that it belongs to. */
export function accountsOf(node: Node): string[] {
  const accounts = [RUN_ACCOUNT, ...agentBudgets(node).keys(), ...sharedAccount(node)];
  for (let at: Node | undefined = node; at; at = at.parent) accounts.push(`task:${at.id}`);
  return accounts;
}

/** As written, without what was raised since. */
export function writtenBudgets(state: State, node: Node): Map<string, Budget> {
  const budgets = new Map<string, Budget>();
  const add = (account: string, budget: Budget | undefined): void => {
    if (budget) budgets.set(account, budget);
  };
  add(RUN_ACCOUNT, state.workflow.budget);
  for (const [account, budget] of agentBudgets(node)) add(account, budget);
  for (let at: Node | undefined = node; at; at = at.parent) {
    const nested = at.kind === 'uses' ? at.workflow.nested?.[at.task.uses!]?.budget : undefined;
    add(`task:${at.id}`, at.task.budget ?? nested);
  }
  return budgets;
}

/** An agent that a plan made up spends the planner's money, and a child its parent's: all share what that one has. */
function agentBudgets(node: Node): Map<string, Budget | undefined> {
  const budgets = new Map<string, Budget | undefined>();
  const add = (of: Node): void => {
    const agent = agentOf(of, 'work');
    if (agent) budgets.set(agentAccount(of, agent.name), agent.agent.budget);
  };
  add(node);
  // What a child spends is its parent's too, whoever pays for that.
  if (node.isChild) for (const [account, budget] of agentBudgets(node.parent!)) budgets.set(account, budget);
  if (typeof node.task.agent !== 'object') return budgets;
  for (let at = node.parent; at && at.kind !== 'uses'; at = at.parent) if (at.task.expand) add(at);
  return budgets;
}

function agentAccount(node: Node, name: string): string {
  if (typeof node.task.agent !== 'object') return `agent:${withinOf(node)}${name}`;
  return ownAgentAccount(writtenAs(node).id);
}

/** Of an agent that is written in a task: no other task's, but all the items of a for-each, and all candidates of a race, are one. */
export function ownAgentAccount(task: string): string {
  return `agent:task:${task}`;
}

/**
 * Agents that are written in tasks can be limited together, by their runtime, but only by a person: the journals of
 * earlier versions have such limits. An agent that is called like a runtime has that account for itself.
 */
function sharedAccount(node: Node): string[] {
  const { agent } = node.task;
  if (typeof agent !== 'object' || Object.hasOwn(node.workflow.agents, agent.runtime)) return [];
  return [`agent:${withinOf(node)}${agent.runtime}`];
}

/** With what a person set since. */
export function limitsOf(state: State, account: string, written: Budget | undefined): BudgetLimits {
  const limits: BudgetLimits = {};
  for (const unit of BUDGET_UNITS) {
    const limit = state.limits.get(account)?.[unit] ?? written?.[unit];
    if (limit !== undefined) limits[unit] = limit;
  }
  return limits;
}

export function noSpending(): Spending {
  return { requests: 0, tokens: { ...NO_TOKENS }, usd: 0, unpriced: 0 };
}

export function spend(spending: Spending, { tokens, usd, estimated }: ModelUse): void {
  spending.requests += 1;
  if (estimated) spending.estimated = (spending.estimated ?? 0) + 1;
  spending.tokens.input += tokens.input;
  spending.tokens.output += tokens.output;
  spending.tokens.cacheRead += tokens.cacheRead;
  spending.tokens.cacheWrite += tokens.cacheWrite;
  if (usd === null) spending.unpriced += 1;
  else spending.usd += usd;
}

/** How long attempts of an account were at work, those at the same time counted once. */
export interface Clock {
  running: number;
  sinceMs: number;
  workedMs: number;
}

export function workedMs({ running, sinceMs, workedMs: before }: Clock, nowMs: number): number {
  return before + (running > 0 ? Math.max(0, nowMs - sinceMs) : 0);
}

/** An attempt of the task begins (1) or ends (-1); only where minutes are counted. */
export function turnClocks(state: State, node: Node, by: 1 | -1, atMs: number): void {
  for (const [account, { minutes }] of writtenBudgets(state, node)) {
    if (minutes === undefined) continue;
    const clock = state.clocks.get(account) ?? { running: 0, sinceMs: atMs, workedMs: 0 };
    state.clocks.set(account, clock);
    if (by === -1 && clock.running === 0) continue;
    clock.workedMs = workedMs(clock, atMs);
    clock.running += by;
    clock.sinceMs = atMs;
  }
}

/** The wall clock went so far without anybody at work. */
export function shiftClocks(state: State, ms: number): void {
  for (const clock of state.clocks.values()) clock.sinceMs += ms;
}

/** Agents of a workflow that is used by another one are its own. */
function withinOf(node: Node): string {
  for (let at = node.parent; at; at = at.parent) if (at.kind === 'uses') return `${at.id}/`;
  return '';
}
