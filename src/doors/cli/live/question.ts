/** The question of a live view: its words, its choices, and which keys answer it. Pure; what it gives is safe to print. */
import { isSomebody } from '../../../contract/actor.ts';
import { isYesNo, sayAnswer, type AnswerForm } from '../../../contract/question.ts';
import type { QuestionView } from '../../../contract/run.ts';
import { columnsOf, fitColumns, wrapColumns } from '../../../report/text/columns.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { saidBy } from '../../../report/words.ts';
import { answerCommand, mayPassForOurs } from '../../../report/lines/question-lines.ts';
import { producedLines } from '../../../report/lines/produced-lines.ts';
import { diffLines } from '../../../report/text/question-material.ts';
import { tellDefault } from '../../../report/text/figures.ts';
import type { FrameOptions } from './frame.ts';
import type { LiveModel, ShownQuestion } from './model.ts';

/** A question that needs more is not seen whole. */
const QUESTION_LINES_MAX = 4;
const CHOICE_LINES_MAX = 9;
/** Of a change that somebody wants to make. */
const DIFF_LINES_MAX = 12;
/** How long an answer that was taken is in sight. */
const ANSWERED_MS = 10_000;
/** Lines that the rest of the picture needs. */
const OTHER_LINES = 10;

/** The whole of it: nobody can answer half a question. */
export function questionLines(model: LiveModel, options: FrameOptions): string[] {
  const { columns, paint, nowMs } = options;
  const { run, questionCount } = model;
  const question = shownQuestion(model, options);
  if (!question) return [];
  const keys = options.hasKeys
    ? keysOf(question, options.marked)
    : answerCommand(question.id, question, run!.id);
  const otherwise = tellDefault(question, nowMs);
  const others = questionCount > 1 ? `${questionCount - 1} more: ↑↓ selects a task` : '';
  const more =
    question.diff !== undefined && options.hasKeys && !options.open ? 'd shows all of the diff' : '';
  const how = [keys, more, otherwise && `else ${otherwise}`, options.hasKeys ? others : '']
    .filter(Boolean)
    .join(' · ');
  // A budget is often not the task's own; its question says whose it is.
  const whose = question.id.endsWith('+budget') ? '' : `${question.label}: `;
  const words = plainLine(`? ${whose}${question.text.replaceAll('\n', ' ')}`);
  const lines = wrapColumns(words, columns - 5, ' ').map((line, n) => (n === 0 ? line : `  | ${line}`));
  const shown = lines.slice(0, QUESTION_LINES_MAX);
  if (lines.length > shown.length) shown[shown.length - 1] = fitColumns(`${shown.at(-1)}…`, columns - 1);
  const painted = shown.map((line) => paint('ask', line));
  const choices = choiceLines(question, options);
  const linesMax = Math.max(1, Math.min(DIFF_LINES_MAX, options.rows - OTHER_LINES - choices.length));
  const diff = [...producedLines(question, linesMax, run!.id), ...diffLines(question, linesMax, run!.id)];
  const all = [...painted, ...diff.map((line) => `  ${fitColumns(line, columns - 3)}`), ...choices];
  const last = all.at(-1)!;
  const canShare = all.length === 1 && !mayPassForOurs(question.text);
  if (canShare && columnsOf(last) + columnsOf(how) + 3 <= columns) all[all.length - 1] += `  ${how}`;
  else all.push(`  ${fitColumns(how, columns - 3)}`);
  return all;
}

/** The one whose keys are read: that of the task that is open or selected, if it asks something. */
export function shownQuestion(
  model: LiveModel,
  { open, selected }: Pick<FrameOptions, 'open' | 'selected'>,
): ShownQuestion | undefined {
  return model.questionFor(open?.id ?? selected);
}

/** What the run took as an answer, and from whom; nothing once people have had time to read it. */
export function answeredLines({ lastAnswer }: LiveModel, { columns, nowMs, paint }: FrameOptions): string[] {
  if (!lastAnswer || nowMs - lastAnswer.atMs > ANSWERED_MS) return [];
  const { label, text, by } = lastAnswer;
  const asked = fitColumns(plainLine(text.replaceAll('\n', ' ')), Math.max(10, Math.floor(columns / 3)));
  const told = plainLine(`${label}: ${sayAnswer(lastAnswer)}, ${saidBy(by)}`);
  return [paint('quiet', fitColumns(`${isSomebody(by) ? 'answered ' : ''}${told} (${asked})`, columns - 1))];
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
