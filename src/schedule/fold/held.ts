/** Folds what attempts wait for that is not their own work. For people: nothing is decided by it. */
import type { EventOf } from '../../contract/event.ts';
import type { Node, State } from '../state.ts';

const WAITS_MAX = 100;

export function noteHeld(
  node: Node,
  event: EventOf<'attempt.held'> | EventOf<'attempt.released'>,
  atMs: number,
): void {
  if (node.state !== 'running' || event.attempt !== node.attempt || node.ended) return;
  if (event.type === 'attempt.released') {
    delete node.held;
    return;
  }
  const { by, text, provider } = event;
  node.held = { by, text, sinceMs: atMs, ...(provider !== undefined && { provider }) };
}

export function noteWait(
  { waits }: State,
  { provider, delayMs, why }: EventOf<'model.waiting'>,
  atMs: number,
): void {
  if (waits.size < WAITS_MAX || waits.has(provider)) waits.set(provider, { untilMs: atMs + delayMs, why });
}
