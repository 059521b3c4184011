/** The state of a run, folded from its journal. It changes nothing. */
import type { RunView } from '../contract/run.ts';
import { create } from '../schedule/fold/fold.ts';
import { applyRecorded } from '../schedule/fold/format-1.ts';
import type { State } from '../schedule/state.ts';
import { noBeginning, pagesOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';

export async function loadRun(store: Store, id: string): Promise<{ state: State; lastSeq: number }> {
  const view: RunView | undefined = await store.run(id);
  let state: State | undefined;
  for await (const page of pagesOf(store, id, { withoutOutput: true, valueBytesMax: 0 })) {
    for (const recorded of page) {
      const { event, atMs } = recorded;
      if (state) applyRecorded(state, recorded);
      else if (event.type === 'run.created') state = create(event, atMs);
      else throw noBeginning(id);
    }
  }
  if (!view || !state) throw noBeginning(id);
  return { state, lastSeq: view.lastSeq };
}
