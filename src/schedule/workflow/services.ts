/** Which tasks may reach the services of which others. Pure; whether one has a way to them is its attempt's matter. */
import { hostOf, isServiceNamed } from '../../contract/services.ts';
import { hasEnded, isTaskWithin, nodeOf, type Node, type ServiceAt, type State } from '../state.ts';
import { agentOf } from './agent-of.ts';
import { effectiveScope } from './scope-of.ts';

/** How many needs are followed; nobody is let through beyond it. */
const FOLLOWED_MAX = 10_000;

/**
 * Its own; those that its scope names; those of a task within it or around it; those of a publisher that its needs lead
 * to, which may go on after the task has started.
 */
export function mayReachService(state: State, reader: Node, { name, task }: ServiceAt): boolean {
  const server = nodeOf(state, task);
  return (
    isServiceNamed(name, networkOf(reader)) ||
    isTaskWithin(server, reader.id) ||
    isTaskWithin(reader, server.id) ||
    leadsTo(reader, (publisher) => isTaskWithin(server, publisher.id))
  );
}

/** Those of the run that the task may reach now, but for its own. */
export function servicesFor(state: State, reader: Node): ServiceAt[] {
  return [...state.services.values()].filter(
    (service) => service.task !== reader.id && mayReachService(state, reader, service),
  );
}

/** Whether a publisher that its needs lead to is still at work, which may serve something later. */
export function maySeeServices(reader: Node): boolean {
  return leadsTo(reader, (publisher) => !hasEnded(publisher));
}

export function tellService(state: State, { name, task }: ServiceAt): string {
  return `${nodeOf(state, task).label} serves ${name} at http://${hostOf(name)}`;
}

/** Why it is not let through, and what to do about it. */
export function tellBarred(state: State, { name, task }: ServiceAt): { why: string; remedy: string } {
  return {
    why: `it is a service of ${nodeOf(state, task).label}, which your task does not need`,
    remedy: `to allow it, add "${hostOf(name)}" to scope.network`,
  };
}

function networkOf(node: Node): readonly string[] {
  const agent = agentOf(node, node.started?.purpose ?? 'work')?.agent;
  return effectiveScope(node.task, agent).network ?? [];
}

/** Over needs, and over the publishers of what is needed; only these may still be at work. */
function leadsTo(reader: Node, isMeant: (publisher: Node) => boolean): boolean {
  const seen = new Set<Node>([reader]);
  for (const node of seen) {
    if (seen.size > FOLLOWED_MAX) return false;
    for (const { publisher } of node.apis) {
      if (isMeant(publisher)) return true;
      seen.add(publisher);
    }
    // What it needs stands beside it: where nobody there publishes, a chain of thousands need not be walked.
    if (node.interfaces.size > 0) for (const need of node.needs) seen.add(need);
    if (node.parent) seen.add(node.parent);
  }
  return false;
}
