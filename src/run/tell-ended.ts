/**
 * Tells webhooks what they were not told of runs that have ended, since the engine was killed before it could: nobody
 * drives these runs again. It holds no claim while it sends, so that whoever wants to go on with such a run can.
 */
import type { Fact } from '../contract/event.ts';
import type { HookFact } from '../contract/hook.ts';
import { isOpen } from '../contract/run.ts';
import type { Store } from '../store/store.ts';
import { HookDesk, type HookSources } from './hook-desk.ts';
import { loadRun } from './load-run.ts';
import { noteAfterEnd } from './note-after-end.ts';
import { AGE_MS_MAX, findUntold } from './untold.ts';

/** The latest. */
const RUNS_MAX = 20;

interface Around {
  store: Store;
  top: string;
  sources: HookSources;
}

export async function tellEnded(around: Around, signal: AbortSignal): Promise<void> {
  const { store, top } = around;
  const runs = await store.runs(RUNS_MAX, { states: ['done', 'failed', 'cancelled'] });
  const sinceMs = Date.now() - AGE_MS_MAX;
  const telling: Promise<void>[] = [];
  for (const { id, endedAtMs = 0 } of runs) {
    // Whoever drives it is telling its end.
    if (endedAtMs < sinceMs || signal.aborted || (await store.driver(id))) continue;
    const { untold } = await findUntold(store, id, top, Date.now());
    if (untold.length > 0) telling.push(tell(id, around, signal));
  }
  await Promise.all(telling);
}

async function tell(run: string, { store, top, sources }: Around, signal: AbortSignal): Promise<void> {
  const { state } = await loadRun(store, run);
  if (isOpen(state)) return;
  const record = async (facts: Fact[]): Promise<void> =>
    void (await noteAfterEnd(store, run, facts as HookFact[]));
  const loop = { state, isOver: true, submit() {}, note() {}, record };
  const desk = new HookDesk({ loop, landings: { land: async () => {} }, sources, top, nowMs: Date.now });
  const close = (): void => void desk.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    await desk.makeUp(store);
    await desk.allTold();
  } finally {
    signal.removeEventListener('abort', close);
  }
}
