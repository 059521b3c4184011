/** A patch as a terminal shows it: coloured, and nothing in it that a terminal would act on. */
import { spellControls } from '../../report/text/plain.ts';
import type { Paint } from './output.ts';

export function colorPatch(patch: string, paint: Paint): string {
  return patch
    .split('\n')
    .map((raw) => {
      const line = raw.split('\t').map(spellControls).join('\t');
      if (/^(diff |index |new file|deleted file|old mode|new mode|similarity|rename|--- |\+\+\+ )/.test(line))
        return paint('strong', line);
      if (line.startsWith('@@')) return paint('busy', line);
      if (line.startsWith('+')) return paint('good', line);
      return line.startsWith('-') ? paint('bad', line) : line;
    })
    .join('\n');
}
