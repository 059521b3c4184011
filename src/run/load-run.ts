/** The state of a run, folded from its journal. It changes nothing. */
import type { RunView } from '../contract/run.ts';
import { foldRecorded } from '../schedule/fold/format-2.ts';
import type { State } from '../schedule/state.ts';
import { noBeginning, pagesOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';

export async function loadRun(store: Store, id: string): Promise<{ state: State; lastSeq: number }> {
  const view: RunView | undefined = await store.run(id);
  let state: State | undefined;
  for await (const page of pagesOf(store, id, { withoutOutput: true, valueBytesMax: 0 })) {
    if (!state && page[0]?.event.type !== 'run.created') throw noBeginning(id);
    for (const recorded of page) state = foldRecorded(state, recorded);
  }
  if (!view || !state) throw noBeginning(id);
  return { state, lastSeq: view.lastSeq };
}
