/** `bosun diff --candidates`: what the candidates of a race changed, side by side, for whoever picks one. */
import { BosunError } from '../../../contract/errors.ts';
import { ask, inputOf } from '../ask.ts';
import { sideBySide, type Column } from '../side-by-side.ts';
import type { Typed } from '../command.ts';
import { columnsOfStream, writeOut, type Paint } from '../output.ts';

/** Of one candidate: what is longer is read with a diff of its own. */
const PATCH_BYTES_MAX = 256 * 1024;
/** Who judges is within the race too. */
const JUDGE = /\[judge( \d+)?\]$/;

export async function showCandidates(typed: Typed, paint: Paint): Promise<number> {
  const { run, task } = inputOf('diff', typed);
  if (task === undefined) throw new BosunError('usage', '--candidates needs the race: --task NAME');
  const status = await ask('status', run === undefined ? {} : { run });
  const race = status.tasks.find(({ id, label }) => id === task || label === task);
  const candidates = status.tasks.filter(({ parent }) => race && parent === race.id);
  if (candidates.length === 0)
    throw new BosunError(
      'not-found',
      `task ${task} of run ${status.run.id} has no candidates; see: bosun status ${status.run.id}`,
    );
  const columns: Column[] = [];
  for (const { id, label = id, state } of candidates) {
    const patch = await patchOf(status.run.id, id);
    if (patch !== undefined || !JUDGE.test(label))
      columns.push({ title: `${label} (${state})`, patch: patch ?? 'it changed nothing' });
  }
  writeOut(sideBySide(columns, columnsOfStream(process.stdout), paint));
  return 0;
}

/** Undefined where it changed nothing. */
async function patchOf(run: string, task: string): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const write = (piece: Buffer): void => {
    if (bytes < PATCH_BYTES_MAX) pieces.push(piece.subarray(0, PATCH_BYTES_MAX - bytes));
    bytes += piece.length;
  };
  try {
    await ask('diff', { run, task }, { write });
  } catch (error) {
    if (!(error instanceof BosunError) || error.code !== 'not-found') throw error;
    return undefined;
  }
  const patch = Buffer.concat(pieces).toString();
  if (bytes === 0) return undefined;
  return bytes > PATCH_BYTES_MAX ? `${patch}\n(cut: ${bytes} bytes)` : patch;
}
