/** Time that was nobody's: whatever began before it is remembered as having begun so much later. */
import { shiftClocks } from '../money/budget.ts';
import type { State } from '../state.ts';

/** The wall clock went so far without anybody at work: no budget's minutes, and no attempt's. */
export function skip(state: State, ms: number): void {
  if (ms === 0) return;
  state.idleMs += Math.max(0, ms);
  if (state.idleSinceMs !== undefined) state.idleSinceMs += ms;
  shiftClocks(state, ms);
  for (const node of state.nodes.values()) {
    if (node.attemptAtMs !== undefined) node.attemptAtMs += ms;
    if (node.held?.by === 'pause') node.held = { ...node.held, sinceMs: node.held.sinceMs + ms };
  }
}
