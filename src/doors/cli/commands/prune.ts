/** `bosun prune` */
import { parseDurationMs, parseSizeBytes } from '../../../base/units.ts';
import { BosunError } from '../../../contract/errors.ts';
import type { Prunable } from '../../../operations/prune.ts';
import { count, formatBytes } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, optionText, type Typed } from '../command.ts';
import { confirm } from '../confirm.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const isDry = isOn(typed, 'dryRun');
  const confirmed = async (found: Prunable): Promise<boolean> => {
    show(found);
    if (isDry && found.runs.length > 0)
      writeError(`would remove ${count(found.runs.length, 'run')}; nothing was removed\n`);
    if (isDry || found.runs.length === 0) return false;
    if (isOn(typed, 'yes')) return true;
    if (process.stdin.isTTY) return await confirm(`Remove ${count(found.runs.length, 'run')}? [y/N] `);
    throw new BosunError('usage', 'nothing was removed; add --yes to remove these runs');
  };
  const input = inputOf('prune', typed, {
    ...given('olderThanMs', read(typed, 'older-than', parseDurationMs, 'an age such as 30d or 12h')),
    ...given('maxBytes', read(typed, 'max-size', parseSizeBytes, 'a size such as 500MB or 5GB')),
  });
  const pruned = await ask('prune', input, { confirm: confirmed });
  if (!pruned) return 0;
  const { runs, freedBytes, leftBytes, isSwept } = pruned;
  writeError(
    `removed ${count(runs.length, 'run')}, freed ${formatBytes(freedBytes)}; ${formatBytes(leftBytes)} are left\n`,
  );
  if (!isSwept)
    writeError('note: other runs are at work; prune again once they have ended to free the rest\n');
  return 0;
}

function show({ runs, kept }: Prunable): void {
  for (const { id, state, endedAtMs } of runs)
    writeOut(`${new Date(endedAtMs).toLocaleString('sv').slice(0, 16)}  ${state.padEnd(9)}  ${id}\n`);
  for (const { id, why } of kept) writeError(`kept ${id}: ${why}\n`);
  if (runs.length === 0) writeError('nothing to remove\n');
}

function read(typed: Typed, name: string, parse: (text: string) => number, what: string): number | undefined {
  const text = optionText(
    typed,
    name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (cause) {
    throw new BosunError('usage', `--${name} must be ${what}, not "${text}"`, { cause });
  }
}
