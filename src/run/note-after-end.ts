/** Writes into the journal of a run that nobody drives what became of its work in the user's branch, and who was told. */
import type { HookFact } from '../contract/hook.ts';
import type { LandedFact } from '../contract/landed.ts';
import { apply } from '../schedule/fold/fold.ts';
import { runView } from '../schedule/views/view.ts';
import type { Claim } from '../store/claims.ts';
import type { Store } from '../store/store.ts';
import { loadRun } from './load-run.ts';

/** False where an engine has begun to drive it: then nobody else writes there. Whoever has claimed the run says so. */
export async function noteAfterEnd(
  store: Store,
  run: string,
  facts: (LandedFact | HookFact)[],
  own?: Claim,
): Promise<boolean> {
  using claim = own ? undefined : await store.claim(run);
  if (!own && !claim) return false;
  const { state, lastSeq } = await loadRun(store, run);
  const atMs = Date.now();
  for (const fact of facts) apply(state, fact, atMs);
  const entries = facts.map((event) => ({ atMs, event }));
  await store.append(run, lastSeq, { entries, run: runView(state), tasks: [], handled: [] });
  return true;
}
