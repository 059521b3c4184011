/** `bosun diff` */
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { BosunError } from '../../../contract/errors.ts';
import { changesOf, streamDiff, type Changes } from '../../../operations/changes.ts';
import { columnsOf, fitColumns, padColumns } from '../../../report/text/columns.ts';
import { spellControls } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut, type Paint } from '../output.ts';
import { colorPatch } from '../color-patch.ts';

export async function run(typed: Typed): Promise<number> {
  const options = {
    cwd: process.cwd(),
    ...given('run', typed.args[0]),
    ...given('task', textOf(typed, 'task')),
    ...given('attempt', attemptOf(typed)),
    outside: isOutside(typed),
  };
  const paint = painter(hasColor(process.stdout));
  const isStat = isOn(typed, 'stat');
  const changes = isStat ? await changesOf(options) : await streamDiff(options, patchWriter(paint));
  if (changes.files.length === 0) writeError('nothing was changed\n');
  else if (isStat) tellFiles(changes, paint);
  return 0;
}

/** Byte for byte, since it may be applied; for people line by line and in colour. */
function patchWriter(paint: Paint): (piece: Buffer) => Promise<void> {
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

function isOutside(typed: Typed): boolean {
  if (isOn(typed, 'outside') && textOf(typed, 'task') === undefined)
    throw new BosunError('usage', 'scopes belong to tasks: name one with --task');
  return isOn(typed, 'outside');
}

function attemptOf(typed: Typed): number | undefined {
  const text = textOf(typed, 'attempt');
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text))
    throw new BosunError('usage', `--attempt must be a whole number above 0, not "${text}"`);
  if (textOf(typed, 'task') === undefined)
    throw new BosunError('usage', 'attempts belong to a task: name it with --task');
  return Number(text);
}

function tellFiles({ files }: Changes, paint: Paint): void {
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
