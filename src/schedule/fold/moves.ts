/** How a node of the state goes from one place to another: its state, the counts, and the lines it waits in. */
import type { TaskState } from '../../contract/run.ts';
import type { Node, State } from '../state.ts';

export function queue(state: State, node: Node, place: 'first' | 'last' = 'last'): void {
  move(state, node, 'ready');
  if (place === 'first') state.ready.unshift(node);
  else state.ready.push(node);
}

/** It needs a decision. */
export function push(state: State, node: Node): void {
  if (node.queued) return;
  node.queued = true;
  state.todo.push(node);
}

/** It needs no decision any more. */
export function unpush(state: State, node: Node): void {
  if (!node.queued) return;
  node.queued = false;
  if (state.todo.peek() === node) state.todo.shift();
  else state.todo.delete(node);
}

/** What stands for others is not counted any more once they are there: they are. */
export function uncount(state: State, node: Node): void {
  count(state, node.state, -1);
  node.isUncounted = true;
}

function count(state: State, of: TaskState, by: number): void {
  const sum = (state.counts[of] ?? 0) + by;
  if (sum > 0) state.counts[of] = sum;
  else delete state.counts[of];
}

export function move(state: State, node: Node, to: TaskState): void {
  if (!node.isUncounted) {
    count(state, node.state, -1);
    count(state, to, 1);
  }
  node.state = to;
}
