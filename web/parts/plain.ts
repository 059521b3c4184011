/** Text that agents wrote, as it is shown: control and direction marks are spelled out, long lines are cut. */
import { plainLine } from '../../src/report/text/plain.ts';

/** In one line. */
export function plain(text: string, charsMax = 400): string {
  const line = plainLine(text.replaceAll(/\s*\n\s*/g, ' ').trim());
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** Its lines stay. */
export function plainText(text: string): string {
  return text.split('\n').map(plainLine).join('\n');
}
