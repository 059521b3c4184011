/** Which tasks an event changes the view of: so that nobody has to make those of all again. It makes none itself. */
import type { Event } from '../../contract/event.ts';
import { nodeOf, withAllWithin, type Node, type State } from '../state.ts';

/** How it was before an event was folded in, as far as it takes to know what changed. */
interface Before {
  nodes: number;
  isPaused: boolean;
  /** Who waited for the task that the event ends. */
  readers: readonly Node[];
}

/** Events that may change what is shown of any task. */
const ON_ALL_TASKS: ReadonlySet<Event['type']> = new Set(['run.reopened', 'run.cancelling', 'run.unpaused']);

/** Those that change what is shown of the tasks within theirs. */
const WITHIN: ReadonlySet<Event['type']> = new Set(['task.paused', 'task.unpaused', 'task.cancelling']);

export function beforeEvent({ nodes, paused, pausedTasks }: State, event: Event): Before {
  const readers = event.type === 'task.finished' ? nodes.get(event.task)?.sums?.readers : undefined;
  return {
    nodes: nodes.size,
    isPaused: paused !== undefined || pausedTasks.size > 0,
    readers: readers ? [...readers] : [],
  };
}

/** Once the event is folded in: its task, those within that are new, and the ones around it. */
export function noteTouched(state: State, event: Event, before: Before, touched: Set<Node>): void {
  if (event.type === 'tasks.ready') {
    for (const id of event.tasks) touched.add(nodeOf(state, id));
    return;
  }
  // A run that was killed goes on with all its tasks as they stood.
  if (event.type === 'run.reopened' && event.tasks.length === 0 && !before.isPaused) return;
  if (ON_ALL_TASKS.has(event.type)) {
    for (const node of state.nodes.values()) touched.add(node);
    return;
  }
  if (event.type === 'clock.jumped' || event.type === 'run.isolation') {
    for (const node of state.nodes.values()) if (node.attemptAtMs !== undefined) touched.add(node);
    return;
  }
  if (!('task' in event)) return;
  const node = nodeOf(state, event.task);
  if (event.type === 'task.finished') {
    for (const dependent of node.dependents) touched.add(dependent);
    if (node.parent) touched.add(node.parent); // it tells how many of its own have ended
    for (const reader of before.readers) touched.add(reader); // it said what it waited for
  }
  touched.add(node);
  if (WITHIN.has(event.type)) for (const within of withAllWithin(node)) touched.add(within);
  if (event.type === 'task.picked') for (const child of node.children) touched.add(child);
  if (event.type === 'task.summarizing') for (const summary of node.summaries ?? []) touched.add(summary);
  // New ones come after those that were there.
  for (let n = state.nodes.size - before.nodes; n > 0; n--) {
    const child = node.children.at(-n);
    if (child) touched.add(child);
  }
}
