/**
 * What the questions of attempts do to the state. Like the rest of the fold it decides nothing: one that needs a
 * decision is put into `wants`, and each decision on it takes it out again.
 *
 *   asked ──▶ wants ──▶ person asked ──▶ said, or time is up ──▶ wants ──▶ answered
 *               └──────────────────▶ answered (policy, ended) ◀──────────────┘
 */
import type { EventOf } from '../../contract/event.ts';
import { isShared, type BudgetLimits } from '../money/budget.ts';
import { nodeOf, type Node, type OpenAsk, type State } from '../state.ts';
import { leavePlaces } from './held.ts';
import { setAway } from './waits.ts';

/** As many are told of. */
const OVERRUNS_MAX = 20;

export function attemptAsked(state: State, event: EventOf<'attempt.asked'>): void {
  if (state.asked.has(event.id)) return;
  const node = nodeOf(state, event.task);
  if (!event.budget) {
    node.questions++;
    if (node.state === 'running' && event.attempt === node.attempt && !node.ended) setAway(state, node, true);
  }
  const { type: _, ...ask } = event;
  state.asked.set(ask.id, { ...ask });
  if (ask.budget) leavePlaces(state);
  want(state, state.asked.get(ask.id)!);
}

export function questionAsked(state: State, id: string): void {
  take(state, state.asked.get(id)!);
}

/** A person answered, or the time was up. */
export function answerGiven(state: State, event: EventOf<'question.answered'>): void {
  const ask = state.asked.get(event.id)!;
  ask.said = event;
  want(state, ask);
}

export function askAnswered(state: State, event: EventOf<'attempt.answered'>, atMs: number): void {
  const ask = state.asked.get(event.id);
  if (!ask) return;
  take(state, ask);
  state.asked.delete(ask.id);
  state.questions.delete(ask.id);
  if (!ask.budget) return setAway(state, nodeOf(state, ask.task), false);
  leavePlaces(state);
  const { account, unit, spent, limit } = ask.budget;
  if (event.answer !== 'yes' || event.limit === undefined || isShared(account)) return;
  setLimits(state, account, { [unit]: event.limit });
  if (event.by !== 'policy') return;
  state.overruns.push({ account, unit, spent, limit, raisedTo: event.limit, atMs });
  if (state.overruns.length > OVERRUNS_MAX) state.overruns.shift();
}

/** Nobody is left who could use an answer; a budget is not the attempt's own. */
export function closeAsked(state: State, node?: Node): void {
  for (const ask of state.asked.values())
    if (!node || (ask.task === node.id && !ask.budget)) want(state, ask);
}

export function forgetAsked(state: State): void {
  for (const id of state.asked.keys()) state.questions.delete(id);
  state.asked.clear();
  while (state.wants.peek()) state.wants.shift();
}

/** What waited for more may have it now. */
export function setLimits(state: State, account: string, limits: BudgetLimits): void {
  state.limits.set(account, { ...state.limits.get(account), ...limits });
  for (const ask of state.asked.values()) if (ask.budget?.account === account) want(state, ask);
}

/** It needs a decision. */
function want(state: State, ask: OpenAsk): void {
  if (ask.queued) return;
  ask.queued = true;
  state.wants.push(ask);
}

function take(state: State, ask: OpenAsk): void {
  if (state.wants.peek() !== ask) return;
  state.wants.shift();
  ask.queued = false;
}
