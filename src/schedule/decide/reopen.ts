/**
 * Going on with a run that was interrupted, was cancelled or has ended: which of its tasks are open again, and how each
 * of them goes on. Pure.
 */
import type { EventOf, Reopened } from '../../contract/event.ts';
import { canGoOn } from '../fold/session.ts';
import { standing } from '../workflow/publications.ts';
import { candidatesOf } from '../workflow/race.ts';
import {
  hasEnded,
  hasFailed,
  isAwaiting,
  isMet,
  isPast,
  isTaskWithin,
  type Node,
  type State,
} from '../state.ts';

export function decideReopened(state: State, wanted: NonNullable<State['goesOn']>): EventOf<'run.reopened'> {
  const [again, because] = rule(state, wanted);
  const tasks = [...reopened(state, again)].map((node) => {
    const isTold = wanted.type === 'task.retried' && wanted.task === node.id;
    const feedback = isTold ? wanted.feedback : undefined;
    return { ...goingOn(node), ...(feedback !== undefined && { feedback }) };
  });
  return { type: 'run.reopened', tasks, because };
}

/** Whether anything would come of trying it again by itself. */
export function isRetriable(state: State, node: Node): boolean {
  if (!hasEnded(node)) return true; // it goes on with the run
  const [again] = rule(state, { type: 'task.retried', task: node.id, by: '' });
  return reopened(state, again).has(node);
}

/** Which tasks that did not succeed are tried again, whatever becomes of others. */
function rule(
  { endedAtMs, cancelling }: State,
  wanted: NonNullable<State['goesOn']>,
): [again: (node: Node) => boolean, because: string] {
  if (wanted.type === 'task.retried')
    return [
      (node) => isTaskWithin(node, wanted.task),
      `${wanted.task} is tried again, and what waits for it`,
    ];
  if (endedAtMs !== undefined) return [() => true, 'it had ended: what did not succeed is tried again'];
  if (cancelling)
    return [(node) => node.state !== 'failed', 'it was being cancelled: what had not failed goes on'];
  return [() => false, 'it was interrupted: what had ended stays as it ended'];
}

/** With whatever was left out because of them, and the groups around; what is done stays done. */
function reopened(state: State, again: (node: Node) => boolean): Set<Node> {
  const { nodes } = state;
  const open = new Set<Node>();
  /** Those of `open` that are there only for a task within. */
  const around = new Set<Node>();
  const take = (node: Node): void => {
    const isOver = hasEnded(node) ? node.state !== 'done' : isBeingCut(node);
    if (!isOver || isPast(node) || isForgotten(node)) return;
    if (around.delete(node)) open.delete(node); // it is looked at again
    open.add(node);
  };
  // A child goes on where its parent waits for it, or goes on with the conversation that asked for it: one that begins anew
  // asks anew.
  const isWaitedFor = (parent: Node): boolean => {
    if (isAwaiting(parent)) return open.has(parent) || !(hasEnded(parent) || parent.isUnwanted);
    return open.has(parent) ? canGoOn(parent) : !hasEnded(parent) && !isBeingCut(parent);
  };
  const isForgotten = ({ isChild, isDismissed, parent }: Node): boolean =>
    isChild === true && (isDismissed === true || !isWaitedFor(parent!));
  for (const node of nodes.values())
    if ((node.state === 'failed' || hasFailed(node) || isBeingCut(node)) && again(node)) take(node);
  // The walk goes on to what is added meanwhile.
  for (const node of open) {
    // A condition is asked again where something it may speak of is done again.
    for (const dependent of followersOf(node)) if (dependent.state !== 'failed') take(dependent);
    const { parent } = node;
    if (parent && hasEnded(parent) && !open.has(parent)) {
      around.add(parent);
      open.add(parent);
    }
    if (around.has(node)) continue;
    // What it needs and did not get has to come first.
    for (const need of node.needs) if (!isMet(need)) take(need);
    for (const needed of node.apis) if (!standing(state, needed)) take(needed.publisher);
    if (isRunAgain(node)) for (const candidate of candidatesOf(node)) open.add(candidate);
    else for (const child of node.children) if (child.state !== 'failed') take(child);
  }
  return open;
}

/** It was cancelled, with what is within it, and has not ended yet. */
function isBeingCut(node: Node): boolean {
  return !hasEnded(node) && (node.isUnwanted === true || node.awaiting?.outcome.kind === 'cancelled');
}

/** A race in which nobody was picked, or whose pick does not merge: its candidates are no better the second time. */
function isRunAgain({ kind, outcome }: Node): boolean {
  return (
    kind === 'race' &&
    outcome?.kind === 'failed' &&
    (outcome.reason === 'judge' || outcome.reason === 'conflict')
  );
}

/** Those that need it, or what it publishes; of what a task became, those of the task. */
function followersOf(node: Node): Node[] {
  const published = (node.task.publishes ?? []).map((name) => node.interfaces.get(name)!);
  return [...node.dependents, ...published.flatMap(({ waiters }) => waiters)];
}

/** One that was ended in the middle goes on right there, where its agent remembers. */
function goingOn(node: Node): Reopened {
  const { id: task, started, attempt, session } = node;
  const { outcome } = node.candidate === undefined ? node : node.parent!;
  const hasConflicted = outcome?.kind === 'failed' && outcome.reason === 'conflict';
  return {
    task,
    ...(hasConflicted && { onTop: true }),
    ...(canGoOn(node) && {
      continues: started?.continues ?? attempt,
      session: { id: session!.id, fork: false },
    }),
  };
}
