/** Begins the journal of a new run, for whoever has the claim to drive it. It starts nothing. */
import type { Event, EventOf } from '../contract/event.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { decideReady } from '../schedule/decide/ready.ts';
import { apply, create } from '../schedule/fold/fold.ts';
import { runView, taskView } from '../schedule/views/view.ts';
import type { Claim } from '../store/claims.ts';
import type { Store } from '../store/store.ts';

export interface NewRun {
  workflow: Workflow;
  source: string;
  inputs: Record<string, Json>;
  base: string;
  dirty: boolean;
}

export async function createRun(
  store: Store,
  run: NewRun,
  atMs: number,
  lastNumber = 0,
): Promise<{ id: string; claim: Claim }> {
  return store.create(run.workflow.name, lastNumber, (id) => {
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
    return { event, atMs, batch: { entries, run: runView(state), tasks, handled: [] } };
  });
}
