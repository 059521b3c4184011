/**
 * Reads events of format 2, of journals until late November 2026, in which the fold itself chose what waits for a slot,
 * which tasks are open again and when a run stops for its budget; and those of format 1, which left even more to it.
 * Here are the rules of that time, so that an old journal gives the state that it gave. Never changed: what `decide` does
 * today has no part in what was decided then.
 */
import type { BudgetMark, Event, EventOf, Recorded, Reopened } from '../../contract/event.ts';
import { hasEnded, isMet, isPast, isTaskWithin, nodeOf, type Node, type State } from '../state.ts';
import { apply, create } from './fold.ts';
import { completed, implied } from './format-1.ts';
import { queue, unpush } from './moves.ts';
import { canGoOn } from './session.ts';

type Read = Pick<Recorded, 'event' | 'atMs' | 'format'>;

/** The next event as it is in the journal, whatever its format; the first of them is `run.created`. */
export function foldRecorded(state: State | undefined, { event, atMs, format }: Read): State {
  if (!state) {
    if (event.type !== 'run.created') throw new Error('a journal starts with run.created');
    const created = create(event, atMs);
    if (format !== undefined) arrive(created, created.top.values());
    return created;
  }
  if (format === undefined) apply(state, event, atMs);
  else if (format === 1) {
    applyOld(state, completed(state, event), atMs);
    const next = implied(state, event);
    if (next) applyOld(state, next, atMs);
  } else applyOld(state, event, atMs);
  return state;
}

function applyOld(state: State, event: Event, atMs: number): void {
  if (event.type === 'run.resumed' || event.type === 'task.retried') {
    apply(state, event, atMs);
    const tasks = reopened(state, event);
    if (tasks) apply(state, { type: 'run.reopened', tasks, because: '' }, atMs);
    else delete state.goesOn;
    return arrive(state, state.nodes.values());
  }
  const short = event.type === 'attempt.answered' && budgetStop(event, state.asked.get(event.id)?.budget);
  apply(state, short ? { ...event, stops: short } : event, atMs);
  if (event.type === 'task.finished') arrive(state, nodeOf(state, event.task).dependents);
  if (event.type === 'task.expanded' || event.type === 'task.handed')
    arrive(state, nodeOf(state, event.task).children);
}

/** The budget that was too small, where the answer ended the run. */
export function budgetStop(
  { answer, by }: EventOf<'attempt.answered'>,
  asked: BudgetMark | undefined,
): BudgetMark | undefined {
  const isAll = asked && /^(run$|all:|repository:)/.test(asked.account);
  if (answer !== 'no' || by === 'ended' || !isAll) return undefined;
  const { account, unit, spent, limit, next } = asked;
  return { account, unit, spent, limit, ...(next !== undefined && { next }) };
}

/** What had no condition, and all of whose needs were met, waited for a slot at once. */
function arrive(state: State, nodes: Iterable<Node>): void {
  const plain = [...nodes].filter(
    (node) =>
      node.state === 'waiting' &&
      node.unmet === 0 &&
      node.kind === 'work' &&
      node.task.if === undefined &&
      node.needs.every(isMet) &&
      !node.halted,
  );
  // Of a run that was being cancelled, all were decided on.
  if (!state.cancelling) for (const node of plain.toReversed()) unpush(state, node);
  for (const node of plain) queue(state, node);
}

/** Undefined where an interrupted run just went on. */
function reopened(
  state: State,
  event: EventOf<'run.resumed'> | EventOf<'task.retried'>,
): Reopened[] | undefined {
  const hadEnded = state.endedAtMs !== undefined;
  if (event.type === 'run.resumed' && !hadEnded && !state.cancelling) return undefined;
  const again = (node: Node): boolean =>
    event.type === 'task.retried' ? isTaskWithin(node, event.task) : hadEnded || node.state !== 'failed';
  const open = new Set<Node>();
  const take = (node: Node): void => {
    if (open.has(node) || !hasEnded(node) || node.state === 'done' || isPast(node)) return;
    open.add(node);
    for (const need of node.needs) if (!isMet(need)) take(need);
    for (const dependent of node.dependents) if (dependent.state !== 'failed') take(dependent);
    for (const child of node.children) if (child.state !== 'failed') take(child);
  };
  for (const node of state.nodes.values()) {
    const isOver =
      node.state === 'failed' || node.state === 'cancelled' || (node.state === 'skipped' && !isMet(node));
    if (isOver && again(node)) take(node);
  }
  for (const node of Array.from(open)) {
    for (let group = node.parent; group && hasEnded(group); group = group.parent) {
      open.add(group);
      for (const dependent of group.dependents) if (dependent.state !== 'failed') take(dependent);
    }
  }
  return [...open].map((node) => ({
    task: node.id,
    ...(node.outcome?.kind === 'failed' && node.outcome.reason === 'conflict' && { onTop: true as const }),
    ...(canGoOn(node) && {
      continues: node.started?.continues ?? node.attempt,
      session: { id: node.session!.id, fork: false },
    }),
  }));
}
