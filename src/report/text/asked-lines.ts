/** What runs ask of people, outside of the live view: who asks what, and the command that answers. Pure; what it gives is safe to print. */
import { listChoices } from '../../contract/question.ts';
import type { QuestionView, RunView } from '../../contract/run.ts';
import { inOneLine, plainLine } from './plain.ts';
import { producedLines } from '../lines/produced-lines.ts';
import { fitColumns } from './columns.ts';
import { diffLines } from './question-material.ts';
import { answerCommand } from '../lines/question-lines.ts';
import { tellDefault, tellPause } from './figures.ts';

const QUESTIONS_SHOWN_MAX = 3;
const DIFF_LINES_MAX = 20;
const PRODUCED_LINES_MAX = 24;
const COLUMNS_MAX = 120;

type AskingRun = Pick<RunView, 'id' | 'questions'>;

/** It is often not the task's own: its question says whose it is. */
function isOfBudget({ id }: QuestionView): boolean {
  return id.endsWith('+budget');
}

/** By what a question can be answered now: the name of its task while that asks nothing else. */
function questionName({ id, task, label = task }: QuestionView, all: readonly QuestionView[]): string {
  if (!id.startsWith(task) || id.endsWith('+budget')) return id;
  const isOnly = all.every((other) => other.task !== task || other.id === id);
  return isOnly ? label : label + id.slice(task.length);
}

/** A few lines for each: what is asked, what can be chosen, what to type. */
export function askedLines({ id: run, questions }: AskingRun, nowMs: number): string[] {
  const shown = questions.slice(0, QUESTIONS_SHOWN_MAX).flatMap((question) => {
    const { text, task, label = task } = question;
    const otherwise = tellDefault(question, nowMs);
    const choices = plainLine(listChoices(question));
    return [
      `  ? ${isOfBudget(question) ? '' : `${plainLine(label)} asks: `}${inOneLine(text)}`,
      ...producedLines(question, PRODUCED_LINES_MAX, run).map(
        (line) => `    ${fitColumns(line, COLUMNS_MAX)}`,
      ),
      ...diffLines(question, DIFF_LINES_MAX, run).map((line) => `    ${line}`),
      ...(choices === '' ? [] : [`    ${choices}`]),
      `    ${answerCommand(questionName(question, questions), question, run)}${otherwise && `  (else ${otherwise})`}`,
    ];
  });
  const left = questions.length - QUESTIONS_SHOWN_MAX;
  return left > 0
    ? [...shown, `  … and ${left} more: bosun status ${run} --json, bosun attach ${run}`]
    : shown;
}

/** One line for each thing that a person has to do for the run to go on. */
export function needLines(
  { id, paused, pending, questions }: AskingRun & Pick<RunView, 'paused' | 'pending'>,
  nowMs: number,
): string[] {
  const isQueued = pending && `run ${id} waits in the queue; start it with: bosun work`;
  const isPaused =
    paused &&
    `run ${id} is paused (${plainLine(tellPause(paused, nowMs))}); continue with: bosun resume ${id}`;
  const asked = questions.map((question) => {
    const { text, task, label = task } = question;
    const otherwise = tellDefault(question, nowMs);
    const how = answerCommand(questionName(question, questions), question, id);
    const what = [inOneLine(text), plainLine(listChoices(question))].filter(Boolean).join('  ');
    const who = isOfBudget(question) ? `run ${id}` : `${plainLine(label)} of run ${id}`;
    return `${who} asks: ${what}; answer with: ${how}${otherwise && ` (else ${otherwise})`}`;
  });
  return [...(isQueued ? [isQueued] : []), ...(isPaused ? [isPaused] : []), ...asked];
}
