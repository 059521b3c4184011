/** What held a run's commands, as each engine that drove it told. */
import type { Isolation } from '../../contract/isolation.ts';

/** Engines that drove one run; more than a few were hardly all different. */
const ISOLATIONS_MAX = 20;
const NOTES_MAX = 20;

/** Only what differs is kept, the latest last. */
export function addIsolation(all: Isolation[], told: Isolation): void {
  const key = JSON.stringify(sameParts(told));
  const before = all.findIndex((each) => JSON.stringify(sameParts(each)) === key);
  if (before !== -1) all.splice(before, 1);
  else if (all.length === ISOLATIONS_MAX) all.shift();
  all.push({ ...told, notes: told.notes.slice(0, NOTES_MAX) });
}

function sameParts({ kind, uid, limits, lacks, notes }: Isolation): unknown[] {
  return [kind, uid, limits, lacks, notes];
}
