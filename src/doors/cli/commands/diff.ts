/** `bosun diff` */
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import type { Changes } from '../../../contract/outputs.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { spellControls } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut, type Paint } from '../output.ts';
import { colorPatch } from '../color-patch.ts';

export async function run(typed: Typed): Promise<number> {
  const paint = painter(hasColor(process.stdout));
  if (isOn(typed, 'candidates')) return (await import('./diff-candidates.ts')).showCandidates(typed, paint);
  const changes = await ask('diff', inputOf('diff', typed), { write: patchWriter(paint) });
  if (changes.files.length === 0) writeError('nothing was changed\n');
  else if (isOn(typed, 'stat')) tellFiles(changes, paint);
  return 0;
}

/** Byte for byte, since it may be applied; for people line by line and in colour. */
export function patchWriter(paint: Paint): (piece: Buffer) => Promise<void> {
  const { stdout } = process;
  const decoder = new StringDecoder();
  let begun = '';
  return async (piece) => {
    let shown: Buffer | string = piece;
    if (stdout.isTTY) {
      const text = begun + decoder.write(piece);
      const end = text.lastIndexOf('\n') + 1; // a patch ends with a line's end
      begun = text.slice(end);
      shown = colorPatch(text.slice(0, end), paint);
    }
    if (!stdout.write(shown)) await once(stdout, 'drain');
  };
}

export function tellFiles({ files }: Changes, paint: Paint): void {
  const names = files.map(({ path }) => spellControls(path));
  const width = Math.min(columnsOfStream(process.stdout) - 20, Math.max(...names.map(columnsOf)));
  let [addedAll, deletedAll] = [0, 0];
  for (const [n, { added, deleted }] of files.entries()) {
    const lines = added === null ? 'binary' : `${paint('good', `+${added}`)} ${paint('bad', `-${deleted}`)}`;
    writeOut(`  ${padColumns(fitColumns(names[n]!, width), width)}  ${lines}\n`);
    addedAll += added ?? 0;
    deletedAll += deleted ?? 0;
  }
  writeOut(`${count(files.length, 'file')}, +${addedAll} -${deletedAll}\n`);
}
