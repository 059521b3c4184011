/** What the state remembers of a run that is being cancelled, by a person or for its budget: all its nodes need a decision. */
import type { BudgetMark } from '../../contract/event.ts';
import { hasEnded, type State } from '../state.ts';
import { closeRequests } from './access.ts';
import { closeAsked } from './asked.ts';
import { push } from './moves.ts';

/** As a person would cancel it: all work is kept, and it can be gone on with once there is more. */
export function stopForBudget(state: State, short: BudgetMark): void {
  state.short ??= short;
  if (state.cancelling) return;
  state.because = 'budget';
  cancel(state, 'graceful');
}

export function cancel(state: State, mode: 'graceful' | 'now'): void {
  if (state.cancelling === 'now') return;
  state.cancelling = mode;
  state.state = 'cancelling';
  closeRequests(state);
  closeAsked(state);
  for (const node of state.nodes.values()) {
    if (hasEnded(node) || node.state === 'expanded' || node.state === 'merging') continue;
    if (node.stopping === mode) continue;
    push(state, node);
  }
}
