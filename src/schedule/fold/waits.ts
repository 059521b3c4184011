/**
 * What waiting attempts do to the state. Like the rest of the fold it decides nothing: that a wait is over is a decision,
 * and so is that agents wait in a circle.
 *
 *   began ──▶ open ──▶ ended (met, expired, pointless, cancelled), or told that it is in a circle
 *              └──▶ left: whoever waited hung up, or its attempt ended
 */
import type { EventOf } from '../../contract/event.ts';
import { nodeOf, type Node, type State, type Wait } from '../state.ts';

type WaitEvent = EventOf<'wait.began' | 'wait.expired' | 'wait.left' | 'wait.ended'>;

export function changeWait(state: State, node: Node, event: WaitEvent): void {
  if (event.type === 'wait.began') {
    if (node.state !== 'running' || event.attempt !== node.attempt || node.ended) return;
    const { type: _, ...wait } = event;
    state.agentWaits.set(wait.id, { ...wait });
    return setAway(state, node, true);
  }
  const wait = state.agentWaits.get(event.id);
  if (!wait) return;
  if (event.type === 'wait.expired') wait.isExpired = true;
  else endWait(state, wait);
}

export function endCircle(state: State, { waits }: EventOf<'wait.circled'>): void {
  for (const { id } of waits) {
    const wait = state.agentWaits.get(id);
    if (wait) endWait(state, wait);
  }
}

/** Its attempt has ended; or, where no task is named, the engine of all of them. */
export function forgetWaits(state: State, node?: Node): void {
  for (const wait of state.agentWaits.values())
    if (node === undefined || wait.task === node.id) endWait(state, wait);
  for (const each of node ? [node] : state.nodes.values()) setAway(state, each, false);
}

/** Whoever has an answer is at work again, even if another of its calls waits on. */
function endWait(state: State, wait: Wait): void {
  state.agentWaits.delete(wait.id);
  setAway(state, nodeOf(state, wait.task), false);
}

/** Whether it does nothing but wait, for others or for a person. */
export function setAway(state: State, node: Node, isAway: boolean): void {
  if ((node.isAway ?? false) === isAway) return;
  node.isAway = isAway;
  state.away += isAway ? 1 : -1;
}
