/** What Claude does not do unasked becomes a question to a person, and what it asks of its own accord too, as it is. */
import { isFields, type Fields } from '../../base/fields.ts';
import { askPerson } from '../agent/ask-person.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import type { SdkAnswer } from './sdk.ts';
import type { Job } from '../runtime.ts';

const INPUT_CHARS_MAX = 1000;
/** Claude itself asks four at most. */
const QUESTIONS_MAX = 10;

/** Behind the fence little is asked: questions of its own, and what its program holds dangerous in any case. */
export function permissions(job: Pick<Job, 'ask' | 'emit'>) {
  let count = 0;
  return async (tool: string, input: Fields, { title }: { title?: string }): Promise<SdkAnswer> => {
    const id = `ask-${(count += 1)}`;
    const questions = tool === 'AskUserQuestion' ? questionsIn(input) : [];
    if (questions.length > 0) return answerAll(job, id, input, questions);
    const text = `${title ?? `${tool} wants to run`}: ${cutAndCount(JSON.stringify(input), INPUT_CHARS_MAX)}`;
    const { answer, note } = await askPerson(job, { id, text, tool: true });
    if (answer === 'yes') return { behavior: 'allow', updatedInput: input };
    const why = note === undefined ? '' : ` They said: ${note}`;
    return {
      behavior: 'deny',
      message: `A person, or the rule for when none answers, said no.${why} Find another way, or say why there is none.`,
    };
  };
}

interface ClaudeQuestion {
  question: string;
  options: { label: string; about?: string }[];
  several: boolean;
}

/** One after the other. Where the first has no answer nobody is there, and the others are not asked. */
async function answerAll(
  job: Pick<Job, 'ask' | 'emit'>,
  id: string,
  input: Fields,
  questions: ClaudeQuestion[],
): Promise<SdkAnswer> {
  const answers: Record<string, string> = {};
  const annotations: Record<string, { notes: string }> = {};
  for (const { question, options, several } of questions) {
    const said = await askPerson(job, { id, text: question, choices: options, several, freeText: true });
    if (said.answer === null) break;
    const labels = said.picked.map((n) => options[n]!.label);
    answers[question] = labels.length > 0 ? joined(labels, several) : said.answer;
    if (said.note !== undefined) annotations[question] = { notes: said.note };
  }
  if (Object.keys(answers).length > 0)
    return {
      behavior: 'allow',
      updatedInput: { ...input, answers, ...(Object.keys(annotations).length > 0 && { annotations }) },
    };
  return {
    behavior: 'deny',
    message: 'Nobody is here to choose. Decide for yourself, say what you assumed, and go on.',
  };
}

/** As Claude's own screen does it: what has a comma of its own is quoted, so that it stays one. */
function joined(labels: string[], several: boolean): string {
  if (!several) return labels[0]!;
  return labels.map((label) => (/, |"/.test(label) ? JSON.stringify(label) : label)).join(', ');
}

/** The well-formed ones: its program is the user's, and may say anything. */
function questionsIn({ questions }: Fields): ClaudeQuestion[] {
  const found: ClaudeQuestion[] = [];
  for (const each of Array.isArray(questions) ? questions.slice(0, QUESTIONS_MAX) : []) {
    if (!isFields(each) || typeof each.question !== 'string') continue;
    const options = (Array.isArray(each.options) ? each.options : []).flatMap((option) => {
      if (!isFields(option) || typeof option.label !== 'string') return [];
      const { label, description: about } = option;
      return [{ label, ...(typeof about === 'string' && { about }) }];
    });
    found.push({ question: each.question, options, several: each.multiSelect === true });
  }
  return found;
}
