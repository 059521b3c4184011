/**
 * What children do to the state: tasks that the agent of another one asked for while it was at work. Like the rest of
 * the fold it decides nothing.
 *
 *   requested ──▶ spawns ──▶ added, a task within ──▶ runs beside its parent ──▶ ended
 *                    └─────▶ refused                       └ unwanted ──▶ cancelled
 */
import type { EventOf } from '../../contract/event.ts';
import { hasEnded, type Node, type State } from '../state.ts';
import { move, push } from './moves.ts';
import { makeNode, orderOf, register } from './nodes.ts';

export function requestChild(state: State, node: Node, event: EventOf<'child.requested'>): void {
  node.spawns = (node.spawns ?? 0) + 1;
  state.spawns.push(event);
}

export function refuseChild(state: State): void {
  state.spawns.shift();
}

/** It starts from what its parent started from, and needs nothing but that. */
export function addChild(state: State, parent: Node, event: EventOf<'child.added'>): Node {
  const { name, child: task } = state.spawns.shift()!;
  const siblings = new Map<string, Node>();
  const node = makeNode({
    id: event.child,
    label: `${parent.label}/${name}`,
    name,
    task,
    workflow: parent.workflow,
    inputs: parent.inputs,
    parent,
    siblings,
    order: orderOf(parent, parent.children.length),
    isChild: true,
  });
  siblings.set(name, node);
  register(state, [node], parent);
  return node;
}

/** With all that is within it; what is being merged is merged. */
export function unwant(state: State, node: Node): void {
  if (hasEnded(node)) return;
  for (const child of node.children) unwant(state, child);
  node.isUnwanted = true;
  if (node.state !== 'expanded' && node.state !== 'merging' && !node.stopping) push(state, node);
}

export function awaitChildren(state: State, node: Node, event: EventOf<'task.awaiting'>): void {
  move(state, node, 'expanded');
  node.awaiting = event;
  if (event.outcome.kind !== 'done') node.results = [];
  delete node.ended;
  delete node.merged;
  for (const child of node.children) if (event.cancels?.includes(child.id)) unwant(state, child);
}
