/** How a task ends that nobody wants any more: by a cancel of the run, or of the task or one around it. Pure. */
import type { EventOf } from '../../contract/event.ts';
import type { Node, State } from '../state.ts';

export function isBeingCancelled(state: State, { isUnwanted }: Node): boolean {
  return state.cancelling !== undefined || isUnwanted === true;
}

export function endCancelled({ id: task }: Node): EventOf<'task.finished'> {
  return { type: 'task.finished', task, outcome: { kind: 'cancelled' } };
}
