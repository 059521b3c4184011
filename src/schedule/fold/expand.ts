/** A task stands for others from now on: makes their nodes, as it was decided. */
import type { EventOf } from '../../contract/event.ts';
import { hasFailed, type Node, type State } from '../state.ts';
import { move, push, uncount } from './moves.ts';
import { addCandidates, addItems, addTasks } from './nodes.ts';

export function expanded(state: State, node: Node, event: EventOf<'task.expanded'>, atMs: number): void {
  if (event.kind !== 'expand') uncount(state, node);
  if (event.kind === 'handoff') node.rounds = 0;
  move(state, node, 'expanded');
  node.startedAtMs ??= atMs;
  delete node.ended;
  delete node.merged;
  if (event.kind === 'expand') node.own = node.results;
  if (node.isReplanning) {
    for (const child of node.children) if (hasFailed(child)) child.isReplaced = true;
    delete node.isReplanning;
  }
  let added: Node[];
  if (event.kind === 'for-each') added = addItems(state, node, event.items ?? []);
  else if (event.kind === 'race') added = addCandidates(state, node, event.candidates ?? []);
  else if (event.kind === 'handoff' || event.kind === 'continuous') added = [];
  else if (event.kind === 'uses') {
    const nested = node.workflow.nested![node.task.uses!]!;
    added = addTasks(state, nested.tasks, nested, event.inputs ?? {}, node);
  } else added = addTasks(state, node.expansion ?? {}, node.workflow, node.inputs, node);
  for (const child of added) if (child.unmet === 0) push(state, child);
  if (node.open === 0) push(state, node);
}
