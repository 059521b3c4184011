/** What the tasks before an approval produced, in lines for people, as long as they were written. Pure; what it gives is safe to print. */
import { shellWord } from '../../base/shell-word.ts';
import type { Question } from '../../contract/question.ts';
import { plainLine } from '../text/plain.ts';

/** What a text ends with that was cut. */
const CUT = /\n… \(\d+ characters more\)$/;

/** What the tasks before an approval gave, a fair share of the lines for each; set off like a change. */
export function producedLines(
  { produced = [] }: Pick<Question, 'produced'>,
  linesMax: number,
  run: string,
): string[] {
  const linesEach = Math.max(1, Math.floor(linesMax / Math.max(1, produced.length)) - 1);
  const told = produced.flatMap(({ task, label = task, text }) => {
    const isCut = CUT.test(text);
    const lines = text
      .replace(CUT, '')
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '');
    const isLong = isCut || lines.length > linesEach;
    const shown = lines.slice(0, linesEach).map((line) => `| ${plainLine(line)}`);
    const all = `bosun logs ${run} --task ${plainLine(shellWord(task))}`;
    return [`${plainLine(label)}:${isLong ? ` (cut; all of it: ${all})` : ''}`, ...shown];
  });
  return told.length <= linesMax
    ? told
    : [...told.slice(0, linesMax - 1), `… (${produced.length} tasks; see bosun report ${run})`];
}
