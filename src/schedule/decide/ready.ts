/** Which tasks wait for a slot as soon as their needs have ended, since nothing is left to be asked of them. Pure. */
import type { EventOf } from '../../contract/event.ts';
import { standing } from '../workflow/publications.ts';
import { hasLost, isMet, type Node, type State } from '../state.ts';

/** Of one event, so that none grows without a limit. */
const TASKS_MAX = 1000;

/** Those at the head of the line for decisions; undefined where the first of them needs another decision. */
export function decideReady(state: State): EventOf<'tasks.ready'> | undefined {
  if (state.cancelling) return undefined;
  const tasks: string[] = [];
  for (const node of state.todo) {
    if (tasks.length === TASKS_MAX || !isPlain(state, node)) break;
    tasks.push(node.id);
  }
  return tasks.length > 0 ? { type: 'tasks.ready', tasks } : undefined;
}

function isPlain(state: State, node: Node): boolean {
  return (
    node.state === 'waiting' &&
    node.kind === 'work' &&
    node.task.if === undefined &&
    !node.halted &&
    !node.awaits &&
    !hasLost(node) &&
    !node.isUnwanted &&
    node.needs.every(isMet) &&
    node.apis.every((needed) => standing(state, needed) !== undefined)
  );
}
