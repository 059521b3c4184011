/**
 * Whose turn it is in a handoff. Pure, as all of decide.
 *
 *   expanded ──▶ the first agent ──▶ accepts ──▶ the next ──▶ … ──▶ the last accepts ──▶ done
 *                      ▲                └ rejects, or the check fails ─┐
 *                      └──── an earlier agent, while rounds are left ◀─┘, else failed
 */
import type { Decision, EventOf } from '../../contract/event.ts';
import { rejectionOf, roundsOf } from '../workflow/handoff.ts';
import { endCancelled, isBeingCancelled } from './cancelled.ts';
import type { Node, State } from '../state.ts';

export function decideHandoff(state: State, node: Node): Decision {
  const order = node.task.handoff!;
  const { id: task, children } = node;
  const last = children.at(-1);
  if (isBeingCancelled(state, node)) return endCancelled(node);
  const handed = (at: number): EventOf<'task.handed'> => ({
    type: 'task.handed',
    task,
    at,
    agent: order[at]!,
  });
  if (!last) return handed(0);
  const rejection = rejectionOf(state, node, last);
  if (rejection) {
    const { to, reasons } = rejection;
    const rounds = roundsOf(node);
    if (node.rounds < rounds) return { ...handed(to), rejected: { by: last.id, reasons } };
    const message = `${last.turn!.agent} still rejects it after ${rounds} ${rounds === 1 ? 'round' : 'rounds'}: ${reasons.split('\n', 1)[0]}`;
    return { type: 'task.finished', task, outcome: { kind: 'failed', reason: 'rejected', message } };
  }
  if (last.state !== 'done') {
    const why = last.outcome && 'message' in last.outcome ? last.outcome.message : last.state;
    const message = `${last.label} failed: ${why}`;
    return { type: 'task.finished', task, outcome: { kind: 'failed', reason: 'tasks', message } };
  }
  const next = last.turn!.at + 1;
  if (next < order.length) return handed(next);
  const { output = null, outputRef } = last;
  return {
    type: 'task.finished',
    task,
    outcome: { kind: 'done' },
    ...(outputRef ? { outputRef } : { output }),
  };
}
