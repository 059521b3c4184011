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
  state.spawnedChars += JSON.stringify(event.child).length;
}

export function refuseChild(state: State): void {
  state.spawns.shift();
}

/** It starts from what its parent started from, and needs nothing but that. */
export function addChild(state: State, parent: Node, event: EventOf<'child.added'>): Node {
  const { child: id, from, publications = [] } = event;
  const { child: task } = state.spawns.shift()!;
  const siblings = new Map<string, Node>();
  const name = id.slice(parent.id.length + 1);
  const node = makeNode({
    id,
    label: `${parent.label}/${name}`,
    name,
    task,
    workflow: parent.workflow,
    inputs: parent.inputs,
    parent,
    siblings,
    order: orderOf(parent, parent.children.length),
    interfaces: new Map(),
    isChild: true,
    origin: { commits: from, publications },
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
  const isMerging = node.state === 'merging' && !node.mergesAfter;
  // Of what is within an open group, the last to end asks for the decision on it.
  const isWaitedFor = node.state === 'expanded' && node.open > 0;
  if (!isWaitedFor && !isMerging && !node.stopping) push(state, node);
}

export function awaitChildren(state: State, node: Node, event: EventOf<'task.awaiting'>): void {
  move(state, node, 'expanded');
  node.awaiting = event;
  if (event.outcome.kind === 'done') node.own = node.results;
  else node.results = [];
  delete node.ended;
  delete node.merged;
  cancelChildren(state, node, event);
}

/** Those that nobody waits for any more, as it was decided. */
export function cancelChildren(state: State, node: Node, { cancels = [] }: { cancels?: string[] }): void {
  if (cancels.length === 0) return;
  const unwanted = new Set(cancels);
  for (const child of node.children) if (unwanted.has(child.id)) unwant(state, child);
}
