/** Questions of a run and their answers, in words for people, with the command that answers. Pure. */
import { shellWord } from '../../base/shell-word.ts';
import { isSomebody } from '../../contract/actor.ts';
import type { EventOf } from '../../contract/event.ts';
import { answerWords, sayAnswer, type AnswerForm } from '../../contract/question.ts';
import { tellDefault } from '../text/figures.ts';
import { producedLines } from './produced-lines.ts';
import { inOneLine, plainLine } from '../text/plain.ts';
import { saidBy } from '../words.ts';

/** Of what tasks gave before an approval. */
const LINES_MAX = 60;

/** `name`: the task, where it asks nothing else, or the question itself. */
export function answerCommand(name: string, form: AnswerForm, run: string): string {
  return `bosun answer ${plainLine(shellWord(name))} ${answerWords(form)} --run ${run}`;
}

/** What somebody asks. Its further lines are set off, so that none of them can pass for a line of ours. */
export function askedText(text: string): string {
  const [first = '', ...others] = text.trim().split(/\r?\n/).map(plainLine);
  return [first, ...others.map((line) => `| ${line}`)].join('\n');
}

/** Whether it has several lines, or what looks like our choices and commands: those are then on lines of their own. */
export function mayPassForOurs(text: string): boolean {
  return /[\n[]|bosun/i.test(text.trim());
}

/** As an event: what is asked, what to type, and what happens where nobody does. */
export function tellQuestion(event: EventOf<'question.asked'>, run: string): string {
  const otherwise = tellDefault({ ...event, askedAtMs: 0 }, 0);
  const produced = producedLines(event, LINES_MAX, run).map((line) => `\n${line}`);
  const how = `${answerCommand(event.id, event, run)}${otherwise && `; else ${otherwise}`}`;
  const choices = (event.choices ?? []).map(
    ({ label, about }, n) => `\n[${n + 1}] ${label}${about === undefined ? '' : `  ${about}`}`,
  );
  return choices.length === 0 && produced.length === 0 && !mayPassForOurs(event.text)
    ? `asks: ${event.text.trim()}  (${how})`
    : `asks: ${askedText(event.text)}${[...produced, ...choices].join('')}\n(${how})`;
}

/** As an event: the answer, and to which question where that is known. */
export function tellGiven(
  { answer, by, note }: EventOf<'question.answered'>,
  asked: EventOf<'question.asked'> | undefined,
  fit: (text: string) => string,
): string {
  const what = asked === undefined ? '' : ` (${fit(inOneLine(asked.text))})`;
  if (by === 'left' || by === 'ended') return `no longer asked, ${saidBy(by)}${what}`;
  const lead = isSomebody(by) ? 'answered ' : '';
  return `${lead}${sayAnswer({ answer })}, ${saidBy(by)}${note === undefined ? '' : `: ${note}`}${what}`;
}
