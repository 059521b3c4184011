/** What services do to the state: which are there, and whose. Like the rest of the fold it decides nothing. */
import type { EventOf } from '../../contract/event.ts';
import type { Node, State } from '../state.ts';

/** Only the attempt that runs can serve, and a name is one task's. */
export function announceService(state: State, node: Node, event: EventOf<'service.announced'>): void {
  const { type: _, ...service } = event;
  if (node.state !== 'running' || event.attempt !== node.attempt || node.ended) return;
  if (state.services.has(event.name)) return;
  state.services.set(event.name, service);
  show(state, node);
}

export function serviceGone(state: State, node: Node, { name, attempt }: EventOf<'service.gone'>): void {
  const service = state.services.get(name);
  if (service?.task !== node.id || service.attempt !== attempt) return;
  state.services.delete(name);
  show(state, node);
}

/** Its attempt has ended. */
export function forgetServices(state: State, node: Node): void {
  if (!node.services) return;
  for (const { name } of node.services) state.services.delete(name);
  delete node.services;
}

/** For people. */
function show(state: State, node: Node): void {
  const own = [...state.services.values()].filter(({ task }) => task === node.id);
  if (own.length === 0) delete node.services;
  else node.services = own.map(({ name, port }) => ({ name, port }));
}
