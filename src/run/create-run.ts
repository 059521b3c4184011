/** How the journal of a new run begins, for whoever drives it or leaves it in the queue. It starts nothing. */
import type { Event, EventOf } from '../contract/event.ts';
import type { Parent, Queued } from '../contract/run-origin.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { decideReady } from '../schedule/decide/ready.ts';
import { apply, create } from '../schedule/fold/fold.ts';
import { runView, taskView } from '../schedule/views/view.ts';
import type { Claim } from '../store/claims.ts';
import type { FirstBatch, Once, Store } from '../store/store.ts';

export interface NewRun {
  workflow: Workflow;
  source: string;
  inputs: Record<string, Json>;
  base: string;
  dirty: boolean;
  overBudget?: 'warn';
  queued?: Queued;
  parent?: Parent;
}

/** Whoever creates it is the one that drives it. */
export async function createRun(
  store: Store,
  run: Omit<NewRun, 'queued'>,
  atMs: number,
  { lastNumber = 0, once }: { lastNumber?: number; once?: Once | undefined } = {},
): Promise<{ id: string; claim: Claim }> {
  return store.create(run.workflow.name, lastNumber, firstBatch(run, atMs), once);
}

export function firstBatch(run: NewRun, atMs: number): FirstBatch {
  return (id) => {
    const event: EventOf<'run.created'> = { type: 'run.created', id, ...run };
    const state = create(event, atMs);
    const events: Event[] = [event];
    // Said at once, so that nobody has to write down all of its tasks a second time when it is driven.
    for (let ready = decideReady(state); ready; ready = decideReady(state)) {
      apply(state, ready, atMs);
      events.push(ready);
    }
    const tasks = [...state.nodes.values()].map((node) => taskView(node));
    const entries = events.map((each) => ({ atMs, event: each }));
    return { atMs, batch: { entries, run: runView(state), tasks, handled: [] } };
  };
}
