/** What a run of a workflow may cost and how long it may take, by what its last runs did. It changes nothing. */
import type { Reading } from '../contract/operations.ts';
import type { Forecast } from '../contract/totals-schema.ts';
import { openJournal } from '../run/journal.ts';
import { runsOf } from '../store/events.ts';

/** Of that workflow: older ones say little. */
const RUNS_MAX = 30;
/** Of all, that are looked at for them. */
const LOOKED_AT_MAX = 3000;

/** Of runs that were done, the newest ones; `failed` are those between them that were not. */
export async function forecastOf({ cwd, workflow, signal }: Reading<'forecast'>): Promise<Forecast> {
  await using journal = await openJournal(cwd);
  const usd: number[] = [];
  const ms: number[] = [];
  let [lookedAt, failed, unpriced] = [0, 0, 0];
  for await (const run of runsOf(journal.store, { sinceMs: 0 })) {
    signal?.throwIfAborted();
    if (++lookedAt > LOOKED_AT_MAX || ms.length === RUNS_MAX) break;
    if (run.name !== workflow || run.endedAtMs === undefined) continue;
    if (run.state === 'failed') failed += 1;
    if (run.state !== 'done') continue;
    ms.push(run.endedAtMs - run.createdAtMs - (run.idleMs ?? 0));
    usd.push(run.spending?.usd ?? 0);
    unpriced += run.spending?.unpriced ?? 0;
  }
  return { workflow, runs: ms.length, failed, unpriced, usd: spread(usd), ms: spread(ms) };
}

/** What one in ten stays below, half of them, and nine in ten. */
function spread(values: readonly number[]): Forecast['usd'] {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return { low: at(0.1), middle: at(0.5), high: at(0.9) };
}
