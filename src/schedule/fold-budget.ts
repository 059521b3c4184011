/** What spending does to the state. It decides nothing. */
import type { EventOf } from '../contract/event.ts';
import { accountsOf, noSpending, spend, type Limits } from './budget.ts';
import { want } from './fold-asked.ts';
import type { Node, State } from './state.ts';

export function noteSpending(state: State, node: Node, use: EventOf<'model.used'>): void {
  for (const account of accountsOf(node)) {
    let spending = state.spending.get(account);
    if (!spending) state.spending.set(account, (spending = noSpending()));
    spend(spending, use);
  }
  for (let at: Node | undefined = node; at; at = at.parent)
    at.spending = state.spending.get(`task:${at.id}`)!;
}

/** What waited for more may have it now. */
export function setLimits(state: State, account: string, limits: Limits): void {
  state.limits.set(account, { ...state.limits.get(account), ...limits });
  for (const ask of state.asked.values()) if (ask.budget?.account === account) want(state, ask);
}
