/** What publications do to the state: who may start now, who may be merged now. Like the rest of the fold it decides nothing. */
import type { EventOf } from '../../contract/event.ts';
import { hasEnded, type Interface, type Node, type State } from '../state.ts';
import { isSettled } from '../workflow/publications.ts';
import { callOnPublication } from './continuous.ts';
import { push } from './moves.ts';

/** Only the attempt that runs can publish, and only what its task announces. */
export function publish(state: State, node: Node, event: EventOf<'publication.made'>): void {
  const { type: _, attempt, ...publication } = event;
  const published = node.interfaces.get(event.name);
  if (!published || !node.task.publishes?.includes(event.name)) return;
  if (node.state !== 'running' || attempt !== node.attempt || node.ended) return;
  published.versions.push(publication);
  node.publications++;
  if (event.commit !== undefined) node.published = event.commit;
  look(state, published);
  callOnPublication(state, node);
}

/** What it announced may never come now, and what rests on its publications is decided. */
export function publisherEnded(state: State, node: Node): void {
  for (const name of node.task.publishes ?? []) look(state, node.interfaces.get(name)!);
  for (const waiting of state.deferred) if (waiting.mergesAfter!.includes(node.id)) push(state, waiting);
}

/** What a node still waits for before anything can be decided on it. */
export function countUnmet(state: State, node: Node): number {
  const needs = node.needs.filter((need) => !hasEnded(need)).length;
  return needs + node.apis.filter((needed) => !isSettled(state, needed)).length;
}

function look(state: State, changed: Interface): void {
  for (const node of changed.waiters) {
    if (node.state !== 'waiting') continue;
    node.unmet = countUnmet(state, node);
    if (node.unmet === 0) push(state, node);
  }
}
