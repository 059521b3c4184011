/** A question of a run as the form that a client shows its person, and what they put into it. Pure. */
import type { InputOf } from '../../contract/operations.ts';
import { isYesNo } from '../../contract/question.ts';
import type { QuestionView } from '../../contract/run.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import { plainText } from './bounds.ts';

const ASKED_CHARS_MAX = 2000;

export interface PersonForm {
  message: string;
  schema: { type: 'object'; properties: Record<string, object>; required?: string[] };
}

export type SaidByPerson = Pick<InputOf<'answer'>, 'answer' | 'chosen'>;

/** What a client sends is not checked by it: whether it answers the question, the operation says. */
export function saidIn({ answer: words, other }: Record<string, unknown>): SaidByPerson | null {
  if (typeof other === 'string' && other.trim() !== '') return { answer: other };
  if (Array.isArray(words)) return { chosen: words.filter((each) => typeof each === 'string') };
  if (typeof words === 'boolean') return { answer: words ? 'yes' : 'no' };
  return typeof words === 'string' ? { answer: words } : null;
}

/** One field for the answer, and one for a person's own words where these can stand in place of a choice. */
export function personForm(question: QuestionView, run: string): PersonForm {
  const { text: asked, task, label = task, choices, several, freeText } = question;
  const message = `${label} of run ${run} asks: ${cutAndCount(plainText(asked), ASKED_CHARS_MAX)}`;
  if (isYesNo(question))
    return { message, schema: one({ type: 'boolean', title: 'Yes?', description: 'yes or no' }) };
  if (!choices) return { message, schema: one({ type: 'string', title: 'Your answer' }) };
  const options = choices.map(({ label: each, about }) => ({
    const: each,
    title: plainText(about === undefined ? each : `${each}: ${about}`),
  }));
  const field = several
    ? { type: 'array', title: 'Choose some', minItems: 1, items: { anyOf: options } }
    : { type: 'string', title: 'Choose one', oneOf: options };
  if (!freeText) return { message, schema: one(field) };
  const other = { type: 'string', title: 'Or in your own words' };
  return { message, schema: { type: 'object', properties: { answer: field, other } } };
}

function one(field: object): PersonForm['schema'] {
  return { type: 'object', properties: { answer: field }, required: ['answer'] };
}
