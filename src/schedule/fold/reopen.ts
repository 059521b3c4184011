/** Going on with a run that was cancelled or has ended: which of its tasks are open again. */
import { canGoOn } from './session.ts';
import { arrive, move, push } from './moves.ts';
import { hasEnded, isMet, isPastTurn, type Node, type State } from '../state.ts';

/** After a crash all that ended stays as it ended; after a cancel or a failure, what did not succeed is tried again. */
export function resume(state: State): void {
  const hadEnded = state.endedAtMs !== undefined;
  if (!hadEnded && !state.cancelling) return;
  reopen(state, (node) => hadEnded || node.state !== 'failed');
}

/**
 * Makes tasks that ended without success open again, and whatever was left out because of them; what is done stays
 * done. A run that is gone on with is no longer being cancelled.
 */
export function reopen(state: State, again: (node: Node) => boolean): void {
  state.state = 'running';
  delete state.endedAtMs;
  delete state.cancelling;
  delete state.because;
  delete state.short;
  for (const node of state.nodes.values()) delete node.stopping;
  const reopened = new Set<Node>();
  const take = (node: Node): void => {
    if (reopened.has(node) || !hasEnded(node) || node.state === 'done' || isPastTurn(node)) return;
    reopened.add(node);
    // What it needs and did not get has to come first.
    for (const need of node.needs) if (!isMet(need)) take(need);
    // A condition is asked again where something it may speak of is done again.
    for (const dependent of node.dependents) if (dependent.state !== 'failed') take(dependent);
    for (const child of node.children) if (child.state !== 'failed') take(child);
  };
  for (const node of state.nodes.values()) {
    const isOver =
      node.state === 'failed' || node.state === 'cancelled' || (node.state === 'skipped' && !isMet(node));
    if (isOver && again(node)) take(node);
  }
  for (const node of Array.from(reopened)) {
    for (let group = node.parent; group && hasEnded(group); group = group.parent) {
      reopened.add(group);
      for (const dependent of group.dependents) if (dependent.state !== 'failed') take(dependent);
    }
  }
  for (const node of reopened) open(state, node);
  for (const node of state.nodes.values()) {
    if (node.state !== 'waiting') continue;
    node.unmet = node.needs.filter((need) => !hasEnded(need)).length;
    if (reopened.has(node) && node.unmet === 0) arrive(state, node);
  }
  for (const node of reopened) if (node.state === 'expanded' && node.open === 0) push(state, node);
}

function open(state: State, node: Node): void {
  // From where it started before it would only conflict again: it gets to see what it conflicted with.
  if (node.outcome?.kind === 'failed' && node.outcome.reason === 'conflict') node.onTop = true;
  const goesOn = canGoOn(node)
    ? { continues: node.started?.continues ?? node.attempt, session: { id: node.session!.id, fork: false } }
    : undefined;
  move(state, node, node.children.length > 0 ? 'expanded' : 'waiting');
  node.failures = 0;
  node.rounds = 0;
  node.results = node.own ?? [];
  for (const key of [
    'ended', 'merged', 'answer', 'resolving', 'conflicted', 'next', 'stopping', 'halted', 'admitted', 'outcome',
    'output', 'outputRef', 'endedAtMs', 'lastOutcome', 'fallback',
  ] as const) delete node[key]; // prettier-ignore
  if (goesOn) node.next = goesOn;
  state.open++;
  if (node.parent) node.parent.open++;
}

export function isWithin(node: Node, id: string): boolean {
  for (let at: Node | undefined = node; at; at = at.parent) if (at.id === id) return true;
  return false;
}
