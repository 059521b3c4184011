/** `bosun artifacts`: which files a task kept, or one of them as it is. */
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { BosunError } from '../../../contract/errors.ts';
import { safeJson, spellControls } from '../../../report/text/plain.ts';
import { formatBytes } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  if (optionText(typed, 'task') === undefined)
    throw new BosunError(
      'usage',
      'name the task whose artifacts you want: bosun artifacts --task <task> (see: bosun artifacts --help; list tasks with: bosun tasks)',
    );
  if (optionText(typed, 'path') !== undefined) {
    await ask('artifact', inputOf('artifact', typed), { write: artifactWriter() });
    return 0;
  }
  const kept = await ask('artifacts', inputOf('artifacts', typed));
  if (isOn(typed, 'json')) writeOut(`${safeJson(kept)}\n`);
  else
    for (const { path, bytes } of kept.files)
      writeOut(`${formatBytes(bytes).padStart(10)}  ${spellControls(path)}\n`);
  if (kept.files.length === 0) writeError(`attempt ${kept.attempt} of ${kept.task} kept no artifacts\n`);
  return 0;
}

/** Byte for byte, since it goes into a file; a terminal gets it as text that moves nothing. */
function artifactWriter(): (piece: Buffer) => Promise<void> {
  const { stdout } = process;
  const decoder = new StringDecoder();
  return async (piece) => {
    const shown = stdout.isTTY ? decoder.write(piece).split('\n').map(spellControls).join('\n') : piece;
    if (!stdout.write(shown)) await once(stdout, 'drain');
  };
}
