/**
 * Questions to people and their answers: yes or no, one or some of several choices, or free text. The one place that says
 * which answer fits a question and how both are written for people. It asks nobody and keeps nothing.
 */

/** What a question takes as its answer; yes or no where it has none of these. */
export interface AnswerForm {
  /** One of these. Their labels are all different, and have no characters that do not show. */
  choices?: Choice[];
  /** Any number of the choices, at least one. */
  several?: true;
  /** A person's own words; where there are choices, instead of them. */
  freeText?: true;
}

export interface Choice {
  label: string;
  /** What it means. */
  about?: string;
}

/** What was said. */
export interface Answer {
  /** `yes`, `no`, the label of a choice, several of them with commas between, or a person's own words; null: nothing. */
  answer: string | null;
  /** Where several can be chosen: those that were. */
  chosen?: string[];
}

/** The same, and who said it: a person, or `time-out`, `ended`, `limit` where nobody did. */
export interface Said extends Answer {
  by: string;
  note?: string;
}

/** What somebody wants to know. */
export interface Question extends AnswerForm {
  text: string;
  /** What counts where nobody answers in time; null where that is nothing. */
  default: string | null;
  /** Whether an agent may use a tool. */
  tool?: true;
  /** Of an approval: what the tasks before it produced, as far as there is room. */
  produced?: ProducedWords[];
}

export interface ProducedWords {
  task: string;
  /** What people call the task; absent where that is its id. */
  label?: string;
  text: string;
}

/** Tasks that a question shows the words of, and how much of each. */
export const PRODUCED_MAX = 12;
export const PRODUCED_CHARS_MAX = 1000;

export const QUESTION_CHARS_MAX = 4000;
export const CHOICES_MAX = 50;
export const LABEL_CHARS_MAX = 200;
const ABOUT_CHARS_MAX = 500;
export const ANSWER_CHARS_MAX = 64 * 1024;

export function isYesNo({ choices, freeText }: AnswerForm): boolean {
  return choices === undefined && freeText === undefined;
}

/** The same, cut to what is kept, its labels made different: they stay in their order, some at the end may be missing. */
export function boundedQuestion(question: Question): Question {
  const { text, default: fallback, choices, several, freeText, tool } = question;
  const labels = new Set<string>();
  const kept = choices?.slice(0, CHOICES_MAX).map(({ label, about }): Choice => {
    const plain = boundedLabel(label) || '(empty)';
    let unique = plain;
    for (let n = 2; labels.has(unique.toLowerCase()); n++) unique = `${plain} (${n})`;
    labels.add(unique.toLowerCase());
    const means = about === undefined ? '' : shownText(about, ABOUT_CHARS_MAX);
    return { label: unique, ...(means !== '' && { about: means }) };
  });
  const left = (choices?.length ?? 0) - CHOICES_MAX;
  const more = left > 0 ? `\n(${left} more choices are left out)` : '';
  return {
    text: cut(text, QUESTION_CHARS_MAX) + more,
    default: fallback,
    ...(kept && kept.length > 0 && { choices: kept, ...(several && { several }) }),
    ...((freeText || kept?.length === 0) && { freeText: true as const }),
    ...(tool && { tool }),
  };
}

/** As it is shown and typed. */
export function boundedLabel(label: string): string {
  return shownText(label, LABEL_CHARS_MAX);
}

/** What a question takes, without what is asked. */
export function formOf({ choices, several, freeText }: AnswerForm): AnswerForm {
  return {
    ...(choices && { choices }),
    ...(several && { several }),
    ...(freeText && { freeText }),
  };
}

/** What counts where nobody says anything. */
export function defaultAnswer(question: AnswerForm & Pick<Question, 'default'>): Answer {
  const { default: answer, several } = question;
  if (!several || answer === null) return { answer };
  const read = readAnswer(question, answer); // several of them, with commas between them
  return 'problem' in read ? noAnswer(question) : read;
}

/** What counts where nobody can say anything any more. */
export function noAnswer(form: AnswerForm): Answer {
  return { answer: isYesNo(form) ? 'no' : null };
}

/** What a person says, as an answer to this question: choices by their numbers or words, or as a list of labels. */
export function readAnswer(form: AnswerForm, said: string | readonly string[]): Answer | { problem: string } {
  if (typeof said !== 'string') return chosenOf(form, said);
  const words = said.trim();
  if (words === '') return { problem: `the answer is empty; ${expected(form)}` };
  if (words.length > ANSWER_CHARS_MAX)
    return { problem: `the answer is too long: ${words.length} characters, at most ${ANSWER_CHARS_MAX}` };
  if (isYesNo(form)) {
    if (/^y(es)?$/i.test(words)) return { answer: 'yes' };
    if (/^no?$/i.test(words)) return { answer: 'no' };
    return { problem: misfit(form, words) };
  }
  const one = choiceOf(form, words);
  if (one !== undefined) return form.several ? { answer: one, chosen: [one] } : { answer: one };
  if (form.several) {
    const some = words.split(',').map((part) => choiceOf(form, part.trim()));
    if (!some.includes(undefined)) return chosenOf(form, some as string[]);
  }
  const isOwn = form.freeText && !(form.choices && NUMBERS.test(words));
  return isOwn ? { answer: words } : { problem: misfit(form, words) };
}

/** Whoever types nothing else means choices by their numbers, also where there are none of these. */
const NUMBERS = /^\d{1,2}( *, *\d{1,2})*$/;

/** Whether it is one of those that the question takes. */
export function isAnswerTo(form: AnswerForm, { answer, chosen }: Answer): boolean {
  if (isYesNo(form)) return answer === 'yes' || answer === 'no';
  if (answer === null || form.freeText) return true;
  const labels = form.choices!.map(({ label }) => label);
  if (chosen) return chosen.length > 0 && chosen.every((label) => labels.includes(label));
  return labels.includes(answer);
}

/** What can be typed, such as `yes|no`, `1|2|3` or `"your answer"`. */
export function answerWords({ choices = [], ...form }: AnswerForm): string {
  if (isYesNo({ ...form, ...(choices.length > 0 && { choices }) })) return 'yes|no';
  const numbers = choices.length > 5 ? [`1…${choices.length}`] : choices.map((_, n) => `${n + 1}`);
  const some = form.several && choices.length > 1 ? ['1,2'] : [];
  return [...numbers, ...some, ...(form.freeText ? ['"your answer"'] : [])].join('|');
}

/** Such as `[1] Postgres  [2] SQLite`; empty where there is nothing to choose from. */
export function listChoices({ choices = [] }: AnswerForm): string {
  return choices.map(({ label }, n) => `[${n + 1}] ${label}`).join('  ');
}

/** For people, who see that nothing was said. */
export function sayAnswer({ answer }: Pick<Answer, 'answer'>): string {
  return answer ?? 'no answer';
}

function chosenOf(form: AnswerForm, wanted: readonly string[]): Answer | { problem: string } {
  const labels = (form.choices ?? []).map(({ label }) => label).filter((label) => wanted.includes(label));
  const other = wanted.find((label) => !labels.includes(label));
  if (other !== undefined) return { problem: misfit(form, other) };
  if (labels.length === 0) return { problem: `nothing is chosen; ${expected(form)}` };
  if (form.several) return { answer: labels.join(', '), chosen: labels };
  return labels.length === 1 ? { answer: labels[0]! } : { problem: misfit(form, labels.join(', ')) };
}

/** Its words come before its number: a choice may be called 2. */
function choiceOf({ choices = [] }: AnswerForm, words: string): string | undefined {
  const plain = words.toLowerCase();
  const named =
    choices.find(({ label }) => label === words) ??
    choices.find(({ label }) => label.toLowerCase() === plain);
  return (named ?? (/^\d{1,4}$/.test(words) ? choices[Number(words) - 1] : undefined))?.label;
}

function misfit(form: AnswerForm, words: string): string {
  const said = shownText(words, 100);
  return `"${said}" does not answer it; ${expected(form)}`;
}

function expected(form: AnswerForm): string {
  if (isYesNo(form)) return 'expected yes or no';
  if (form.choices === undefined) return 'write some text';
  const others = form.freeText ? ', or write your own' : '';
  return `choose ${form.several ? 'some' : 'one'} of: ${listChoices(form)}${others}`;
}

/** In one line, without what does not show. */
function shownText(text: string, charsMax: number): string {
  const enough = text.slice(0, 4 * charsMax);
  return cut(enough.replaceAll(/[\p{C}\s]+/gu, ' ').trim(), charsMax);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
