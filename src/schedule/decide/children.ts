/**
 * Whether an agent gets a child, and how a task goes on or ends that has children: it waits for them where its own work
 * is done, and they are cancelled where it is not, or where its next attempt does not know of them. Pure, as all of
 * decide.
 */
import type { Decision, EventOf } from '../../contract/event.ts';
import { hasEnded, type Node, type State } from '../state.ts';
import { freePlace } from '../fold/nodes.ts';
import { endCancelled } from './cancelled.ts';
import { RUN_TASKS_MAX } from './room.ts';

/** Of one task, in all its attempts. */
const CHILDREN_MAX = 1000;
/** Children of children: beyond this, one asks for nothing but the next. */
const CHILD_DEPTH_MAX = 5;

export function decideChild(state: State, request: EventOf<'child.requested'>): Decision {
  const { task, id, name } = request;
  const parent = state.nodes.get(task)!;
  const why = refusal(state, parent, request);
  if (why !== undefined) return { type: 'child.refused', task, id, why };
  const child = `${parent.id}/${freePlace(state, parent, name)}`;
  const { from, publications } = parent.started!;
  return { type: 'child.added', task, id, child, from, ...(publications && { publications }) };
}

function refusal(
  state: State,
  parent: Node,
  { attempt, name }: EventOf<'child.requested'>,
): string | undefined {
  const { task } = parent;
  if (state.cancelling) return 'the run is being cancelled';
  if (parent.isUnwanted) return `${parent.label} is being cancelled`;
  if (parent.state !== 'running' || parent.ended || parent.attempt !== attempt)
    return `${parent.label} is not at work`;
  if (parent.stopping) return `${parent.label} is being stopped`;
  if (parent.started?.purpose === 'resolve') return 'whoever settles a conflict works alone';
  if (task.expand)
    return 'a planner adds tasks with its output, where each is checked against the others; write them there';
  for (let at: Node | undefined = parent; at; at = at.parent)
    if ((at.candidate ?? at.isJudge) !== undefined)
      return `${at.label} takes part in a race, where only the work of the one that is picked is merged: it works alone`;
  const depth = depthOf(parent) + 1;
  if (depth > CHILD_DEPTH_MAX)
    return `children may have children ${CHILD_DEPTH_MAX} levels deep, and this would be level ${depth}`;
  if (parent.children.length >= CHILDREN_MAX)
    return `${parent.label} has had ${CHILDREN_MAX} children: that is the limit`;
  if (state.nodes.size >= RUN_TASKS_MAX) return `the run has ${RUN_TASKS_MAX} tasks: that is the limit`;
  const namesake = state.nodes.get(`${parent.id}/${name}`);
  if (namesake && isOpen(namesake))
    return `${parent.label} has a child called ${name} at work; give this one another name`;
  return undefined;
}

function depthOf(node: Node): number {
  let depth = 0;
  for (let at: Node | undefined = node; at; at = at.parent) if (at.isChild) depth++;
  return depth;
}

/** A task does not end before its children; and it is not done where a cancel of the run ended one of them. */
export function withChildren(state: State, node: Node, decision: Decision): Decision {
  if (decision.type === 'task.again' || decision.type === 'task.delayed')
    return isForgetful(node, decision) ? { ...decision, ...cancelled(node) } : decision;
  if (decision.type !== 'task.finished') return decision;
  if (node.open === 0) {
    const isCancelled = state.cancelling ?? node.isUnwanted;
    const isCut = isCancelled && decision.outcome.kind === 'done' && node.children.some(wasCut);
    return isCut ? endCancelled(node) : decision;
  }
  const { halts: _, type: __, ...end } = decision;
  return { type: 'task.awaiting', ...end, ...(end.outcome.kind !== 'done' && cancelled(node)) };
}

/** The next attempt begins anew, and asks for children of its own. Whoever settles a conflict is not the one that asked. */
function isForgetful(
  node: Node,
  { type, session, ...event }: EventOf<'task.again' | 'task.delayed'>,
): boolean {
  const settles = node.resolving ?? (type === 'task.again' && 'why' in event && event.why === 'conflict');
  return session === undefined && !settles;
}

function cancelled({ children }: Node): { cancels?: string[] } {
  const cancels = children.filter((child) => child.isChild && isOpen(child)).map(({ id }) => id);
  return cancels.length > 0 ? { cancels } : {};
}

/** Somebody wants it to go on. */
function isOpen(node: Node): boolean {
  return !hasEnded(node) && !node.isUnwanted;
}

/** Not by its parent, who knows of that. */
function wasCut({ isChild, isDismissed, state }: Node): boolean {
  return isChild === true && state === 'cancelled' && !isDismissed;
}

/** All its children have ended: it ends as it was to end. What became of them, its agent had to judge. */
export function endAwaiting(node: Node): Decision {
  const { type: _, cancels: __, ...end } = node.awaiting!;
  return { type: 'task.finished', ...end };
}
