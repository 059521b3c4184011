/** What the state remembers of continuous tasks: that their time has come, or that something they listen to happened. */
import { isRestOver, type Node, type State } from '../state.ts';
import { push } from './moves.ts';

/** A task has ended: those that listen to it are called, and all of them once nothing else is left. */
export function callContinuous(state: State, ended: Node): void {
  if (state.continuous.length === 0) return;
  const isRound = isWithinContinuous(ended);
  const happened =
    ended.state === 'done' ? 'task-completed' : ended.state === 'failed' ? 'task-failed' : undefined;
  for (const node of state.continuous) {
    if (node.state !== 'expanded') continue;
    const isCalled = !isRound && happened !== undefined && node.task.continuous!.on?.includes(happened);
    if (isCalled) endRest(state, node, 'isCalled');
    else if (node.resting && ended.siblings === node.siblings && isRestOver(node)) push(state, node);
  }
}

/** Something was published: rounds do not call each other by that. */
export function callOnPublication(state: State, publisher: Node): void {
  if (state.continuous.length === 0 || isWithinContinuous(publisher)) return;
  for (const node of state.continuous)
    if (node.state === 'expanded' && node.task.continuous!.on?.includes('publication'))
      endRest(state, node, 'isCalled');
}

export function endRest(state: State, node: Node, why: 'isDue' | 'isCalled'): void {
  node[why] = true;
  if (node.resting) push(state, node);
}

function isWithinContinuous(node: Node): boolean {
  for (let at: Node | undefined = node; at; at = at.parent) if (at.kind === 'continuous') return true;
  return false;
}
