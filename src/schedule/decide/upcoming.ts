/**
 * Guesses which tasks start next, so that their surroundings can be made while they wait. Pure. A wrong guess costs a
 * sandbox that nobody uses; it decides nothing.
 */
import { originOf, originOnTop } from '../workflow/publications.ts';
import { hasEnded, pauseOf, type Node, type State } from '../state.ts';

export interface Upcoming {
  node: Node;
  /** The commits that its workspace will start from; undefined for one without a workspace. */
  from: string[] | undefined;
}

/** How many entries of the line for a slot are looked at. */
const LOOKED_AT_MAX = 32;

/** `running` are the tasks at work. Only first attempts: later ones go on where the last one stopped. */
export function upcoming(state: State, running: Iterable<Node>, max: number): Upcoming[] {
  if (state.state !== 'running' || state.paused) return [];
  const found = new Map<Node, Upcoming>();
  let looked = 0;
  for (const node of state.ready) {
    if (found.size === max || ++looked > LOOKED_AT_MAX) break;
    if (node.state !== 'ready' || !isFirst(node) || pauseOf(state, node)) continue;
    found.set(node, { node, from: hasNoWorkspace(node) ? undefined : fromOf(state, node) });
  }
  const soon = new Set(running);
  for (const before of soon) {
    for (const node of before.dependents) {
      if (found.size >= max) return [...found.values()];
      const isNext =
        node.state === 'waiting' && isFirst(node) && hasNoWorkspace(node) && node.task.if === undefined;
      if (!isNext || pauseOf(state, node) || !node.needs.every((need) => hasEnded(need) || soon.has(need)))
        continue;
      found.set(node, { node, from: undefined });
      soon.add(node); // and whoever waits for that one
    }
  }
  return [...found.values()];
}

function isFirst(node: Node): boolean {
  return node.kind === 'work' && node.attempt === 0 && node.resolving === undefined;
}

function fromOf(state: State, node: Node): string[] {
  return (node.onTop ? originOnTop : originOf)(state, node).commits;
}

function hasNoWorkspace({ task, workflow }: Node): boolean {
  return (task.workspace ?? workflow.workspace) === 'none';
}
