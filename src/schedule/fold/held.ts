/** Folds what attempts wait for that is not their own work. What waits for a slot has not begun: nobody's minutes. */
import type { EventOf } from '../../contract/event.ts';
import { turnClocks } from '../money/budget.ts';
import type { Node, State } from '../state.ts';

const WAITS_MAX = 100;

export function noteHeld(
  state: State,
  node: Node,
  event: EventOf<'attempt.held'> | EventOf<'attempt.released'>,
  atMs: number,
): void {
  if (node.state !== 'running' || event.attempt !== node.attempt || node.ended) return;
  if (event.type === 'attempt.released') {
    if (node.held?.by === 'slot') {
      turnClocks(state, node, 1, atMs);
      node.attemptAtMs = atMs;
    }
    delete node.held;
    return;
  }
  const { by, text, provider } = event;
  if (by === 'slot') {
    turnClocks(state, node, -1, atMs);
    delete node.attemptAtMs;
  }
  node.held = { by, text, sinceMs: atMs, ...(provider !== undefined && { provider }) };
}

export function noteWait(
  { waits }: State,
  { provider, delayMs, why }: EventOf<'model.waiting'>,
  atMs: number,
): void {
  if (waits.size < WAITS_MAX || waits.has(provider)) waits.set(provider, { untilMs: atMs + delayMs, why });
}
