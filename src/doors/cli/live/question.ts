/** The question of a live view: its words, its choices, and which keys answer it. Pure; what it gives is safe to print. */
import { answerWords, isYesNo, type AnswerForm } from '../../../contract/question.ts';
import type { QuestionView } from '../../../contract/run.ts';
import { columnsOf, fitColumns, wrapColumns } from '../../../report/text/columns.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { tellDefault } from '../figures.ts';
import type { FrameOptions } from './frame.ts';
import type { LiveModel } from './model.ts';

/** A question that needs more is not seen whole. */
const QUESTION_LINES_MAX = 4;
const CHOICE_LINES_MAX = 9;
/** Lines that the rest of the picture needs. */
const OTHER_LINES = 10;

/** The whole of it: nobody can answer half a question. */
export function questionLines(model: LiveModel, options: FrameOptions): string[] {
  const { columns, paint, nowMs } = options;
  const { question, run } = model;
  if (!question) return [];
  const keys = options.hasKeys
    ? keysOf(question, options.marked)
    : `bosun answer ${question.id} ${answerWords(question)} --run ${run!.id}`;
  const otherwise = tellDefault(question, nowMs);
  const how = otherwise === '' ? keys : `${keys} · else ${otherwise}`;
  // A budget is often not the task's own; its question says whose it is.
  const whose = question.id.endsWith('+budget') ? '' : `${question.label}: `;
  const words = plainLine(`? ${whose}${question.text.replaceAll('\n', ' ')}`);
  const lines = wrapColumns(words, columns - 3, ' ').map((line, n) => (n === 0 ? line : `  ${line}`));
  const shown = lines.slice(0, QUESTION_LINES_MAX);
  if (lines.length > shown.length) shown[shown.length - 1] = fitColumns(`${shown.at(-1)}…`, columns - 1);
  const painted = shown.map((line) => paint('ask', line));
  const choices = choiceLines(question, options);
  const last = choices.at(-1) ?? shown.at(-1)!;
  const all = [...painted, ...choices];
  if (choices.length === 0 && columnsOf(last) + columnsOf(how) + 3 <= columns)
    all[all.length - 1] += `  ${how}`;
  else all.push(`  ${fitColumns(how, columns - 3)}`);
  return all;
}

/** Whether an answer has to be typed, or can be. */
export function needsLine({ choices = [], freeText }: AnswerForm): boolean {
  return freeText === true || choices.length > 9;
}

/** One in a line with what it means, where there is room for that; else as many in a line as fit. */
function choiceLines({ choices = [] }: QuestionView, { columns, rows, marked }: FrameOptions): string[] {
  if (choices.length === 0) return [];
  const linesMax = Math.max(1, Math.min(CHOICE_LINES_MAX, rows - OTHER_LINES));
  const named = choices.map(({ label }, n) => {
    const number = marked?.has(label) ? `[${n + 1}✓]` : `[${n + 1}]`;
    return plainLine(`${number} ${label}`);
  });
  const each = choices.map(
    ({ about }, n) => `${named[n]}${about === undefined ? '' : `  ${plainLine(about)}`}`,
  );
  const lines =
    choices.length <= linesMax && choices.some(({ about }) => about !== undefined)
      ? each
      : wrapColumns(named.join('\n'), columns - 3, '\n').map((line) => line.replaceAll('\n', '  '));
  const shown = lines.slice(0, linesMax).map((line) => `  ${fitColumns(line, columns - 3)}`);
  if (lines.length > linesMax) shown[linesMax - 1] = fitColumns(`${shown[linesMax - 1]} …`, columns - 1);
  return shown;
}

function keysOf(question: AnswerForm, marked: FrameOptions['marked']): string {
  if (isYesNo(question)) return '[y]es [n]o';
  const { choices = [], several, freeText } = question;
  const numbers = choices.length > 1 ? `1–${Math.min(9, choices.length)}` : '1';
  const type = freeText ? 'a types an answer' : choices.length > 9 ? 'a types a number' : '';
  const choose = choices.length === 0 ? '' : several ? `${numbers} marks` : `${numbers} chooses`;
  return [choose, marked && marked.size > 0 ? 'enter sends' : '', type].filter(Boolean).join(' · ');
}
