/** What spending does to the state. It decides nothing. */
import type { EventOf } from '../../contract/event.ts';
import { accountsOf, noSpending, spend } from '../money/budget.ts';
import type { Node, State } from '../state.ts';

export function noteSpending(state: State, node: Node, use: EventOf<'model.used'>): void {
  for (const account of accountsOf(node)) {
    let spending = state.spending.get(account);
    if (!spending) state.spending.set(account, (spending = noSpending()));
    spend(spending, use);
  }
  for (let at: Node | undefined = node; at; at = at.parent)
    at.spending = state.spending.get(`task:${at.id}`)!;
}
