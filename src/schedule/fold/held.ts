/** Folds what attempts wait for that is not their own work. It decides nothing. */
import type { EventOf } from '../../contract/event.ts';
import { accountsOf, isShared, turnClocks } from '../money/budget.ts';
import type { Node, State } from '../state.ts';
import { setAway } from './waits.ts';

const WAITS_MAX = 100;

export function noteHeld(
  state: State,
  node: Node,
  event: EventOf<'attempt.held'> | EventOf<'attempt.released'>,
  atMs: number,
): void {
  if (node.state !== 'running' || event.attempt !== node.attempt || node.ended) return;
  const before = node.held;
  const hadStopped = hasStoppedClock(node);
  if (event.type === 'attempt.released') delete node.held;
  else {
    const { by, text, provider } = event;
    node.held = { by, text, sinceMs: atMs, ...(provider !== undefined && { provider }) };
    // what it waits for may be told in other words, but it waits since then
    if (by === 'pause' && before?.by === 'pause') node.held.sinceMs = before.sinceMs;
  }
  if (before?.by === 'budget' || node.held?.by === 'budget') leavePlace(state, node);
  node.waitsForSlot = node.held?.by === 'slot';
  const hasStopped = hasStoppedClock(node);
  if (hadStopped !== hasStopped) turnClocks(state, node, hasStopped ? -1 : 1, atMs);
  if (node.waitsForSlot) delete node.attemptAtMs;
  else if (before?.by === 'slot') node.attemptAtMs = atMs;
  else if (hadStopped && !hasStopped && node.attemptAtMs !== undefined)
    node.attemptAtMs += atMs - before!.sinceMs;
}

/** A person is asked for money, or answered: that changes the places of all that wait for it. */
export function leavePlaces(state: State): void {
  for (const node of state.nodes.values()) if (node.held?.by === 'budget') leavePlace(state, node);
}

/**
 * Whoever waits until a person gives more money leaves its place to what costs none. Not where it only waits for what
 * others have reserved, which comes back by itself.
 */
function leavePlace(state: State, node: Node): void {
  setAway(state, node, node.held?.by === 'budget' && isAskedFor(state, node));
}

function isAskedFor({ asked }: State, node: Node): boolean {
  for (const { budget } of asked.values())
    if (budget && (isShared(budget.account) || accountsOf(node).includes(budget.account))) return true;
  return false;
}

/** Nobody's minutes: it has not begun, or a person has paused it. */
export function hasStoppedClock({ held }: Node): boolean {
  return held?.by === 'slot' || held?.by === 'pause' || held?.by === 'hook';
}

export function noteWait(
  { waits }: State,
  { provider, delayMs, why }: EventOf<'model.waiting'>,
  atMs: number,
): void {
  if (waits.size < WAITS_MAX || waits.has(provider)) waits.set(provider, { untilMs: atMs + delayMs, why });
}
