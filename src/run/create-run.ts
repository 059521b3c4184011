/** Begins the journal of a new run. It starts nothing. */
import type { EventOf } from '../contract/event.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { create } from '../schedule/fold/fold.ts';
import { runView, taskView } from '../schedule/views/view.ts';
import type { Store } from '../store/store.ts';

export interface NewRun {
  workflow: Workflow;
  source: string;
  inputs: Record<string, Json>;
  base: string;
  dirty: boolean;
}

export async function createRun(store: Store, run: NewRun, atMs: number, lastNumber = 0): Promise<string> {
  return store.create(run.workflow.name, lastNumber, (id) => {
    const event: EventOf<'run.created'> = { type: 'run.created', id, ...run };
    const state = create(event, atMs);
    const tasks = [...state.nodes.values()].map((node) => taskView(node));
    return { event, atMs, batch: { entries: [{ atMs, event }], run: runView(state), tasks, handled: [] } };
  });
}
