/** What a person should read before answering a request for access: the change. Pure; what it gives is safe to print. */
import { shellWord } from '../../base/shell-word.ts';
import type { QuestionView } from '../../contract/run.ts';
import { fitColumns } from './columns.ts';
import { plainLine } from './plain.ts';

const COLUMNS_MAX = 120;

/** What the question's own text ends with where it has not all of the change. */
const CUT = /\n… \(\d+ characters more\)$/;

/** How the change begins that is asked for; set off, so that none of it can pass for a line of ours. */
export function diffLines({ diff, task }: QuestionView, linesMax: number, run: string): string[] {
  if (diff === undefined) return [];
  const lines = diff.replace(CUT, '').replace(/\n$/, '').split(/\r?\n/);
  const isCut = CUT.test(diff);
  const shown = lines.slice(0, lines.length > linesMax || isCut ? linesMax - 1 : linesMax);
  const left = lines.length - shown.length;
  const count = isCut ? 'more' : `${left} ${left === 1 ? 'line' : 'lines'} more`;
  const all = `bosun diff ${run} --task ${plainLine(shellWord(task))} --wanted`;
  return [
    ...shown.map((line) => fitColumns(`| ${plainLine(line)}`, COLUMNS_MAX)),
    ...(left > 0 || isCut ? [`| … (${count}; all of it: ${all})`] : []),
  ];
}
