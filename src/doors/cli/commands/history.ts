/** `bosun history` */
import { formatDuration } from '../../../base/units.ts';
import type { ShownRun } from '../../../contract/outputs.ts';
import { padColumns } from '../../../report/text/columns.ts';
import { glyphOf, toneOf } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { tellCounts } from '../figures.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

const LIMIT = 20;

export async function run(typed: Typed): Promise<number> {
  const runs = await ask('history', { limit: LIMIT, ...inputOf('history', typed) });
  if (isOn(typed, 'json')) for (const each of runs) writeOut(`${safeJson(each)}\n`);
  else tell(runs);
  if (runs.length === 0) writeError('no run was ever started here; start one with: bosun run\n');
  return 0;
}

function tell(runs: ShownRun[]): void {
  const paint = painter(hasColor(process.stdout));
  const width = Math.max(...runs.map(({ id }) => id.length));
  for (const { id, state, createdAtMs, endedAtMs, idleMs = 0, counts } of runs) {
    const when = new Date(createdAtMs).toLocaleString('sv').slice(0, 16);
    const took = endedAtMs === undefined ? '' : formatDuration(endedAtMs - createdAtMs - idleMs);
    const shown = paint(toneOf(state), padColumns(`${glyphOf(state)} ${state}`, 13));
    writeOut(
      `${shown}  ${id.padEnd(width)}  ${when}  ${took.padStart(7)}  ${paint('quiet', tellCounts(counts))}\n`,
    );
  }
}
