/** The tools for what a person decides: to merge a run, and to answer what it asks. */
import { z } from 'zod';
import { BosunError } from '../../contract/errors.ts';
import type { InputOf } from '../../contract/operations.ts';
import { Merged, type Answered } from '../../contract/outputs.ts';
import type { QuestionView } from '../../contract/run.ts';
import { flag, opt, text, texts } from '../../contract/schema-parts.ts';
import { questionMeant } from '../../operations/perform.ts';
import { answerCommand } from '../../report/lines/question-lines.ts';
import { inOneLine } from '../../report/text/plain.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import { endOf, plainText } from './bounds.ts';
import { personForm, saidIn, type SaidByPerson } from './person-form.ts';
import { askAs, fieldOf, type ToolContext, type Tool } from './tool.ts';

const PRINTED_CHARS_MAX = 4000;
const NOTE_CHARS_MAX = 2000;

export const MERGE: Tool = {
  name: 'engine_merge',
  title: 'Merge a run',
  about:
    'Bring what a run changed onto the branch that is checked out in the repository: all of it or nothing. Only when the person wants that. Uncommitted changes and conflicts stop it before a file is touched.',
  asks: ['merge'],
  input: {
    type: 'object',
    properties: {
      run: fieldOf('merge', 'run', 'the run; the only one at work, else the latest, if not given'),
      squash: fieldOf('merge', 'squash', 'make one commit of it all'),
    },
  },
  output: Merged,
  kind: 'lands',
  async act(input: InputOf<'merge'>, asking: ToolContext) {
    let printed = '';
    const note = (words: string): void => void (printed = (printed + words).slice(-2 * PRINTED_CHARS_MAX));
    try {
      return await askAs(asking, 'merge', { ...input, trust: false }, { printed: note });
    } catch (error) {
      if (printed === '' || !(error instanceof BosunError)) throw error;
      const end = endOf(plainText(printed), PRINTED_CHARS_MAX);
      throw new BosunError(error.code, `${error.message}; the check printed:\n${end}`, { cause: error });
    }
  },
};

export const ANSWER: Tool = {
  name: 'engine_answer',
  title: 'Answer a question of a run',
  about:
    'Put a question of a run to the person, and give the run the answer. Where this client can ask the person itself, it does, whatever answer is passed. Else pass the answer that the person gave you: yes, no, a choice by its number or words, or text. Never make one up.',
  asks: ['answer'],
  input: {
    type: 'object',
    properties: {
      run: fieldOf('answer', 'run', 'the run that asks; the only one at work, else the latest, if not given'),
      question: fieldOf(
        'answer',
        'question',
        'the id of the question, or its task; the only open one if not given',
      ),
      answer: fieldOf('answer', 'answer', 'what the person said'),
      chosen: fieldOf('answer', 'chosen', 'in place of it: the labels of several choices'),
      note: fieldOf('answer', 'note', 'why; it is kept with the answer, as a word of yours'),
    },
    either: [['answer', 'chosen']],
  },
  output: z.strictObject({
    run: text,
    question: text,
    text,
    /** What counts; absent where nobody has answered. */
    answer: opt(text),
    /** The run is driven and has taken the answer; else it gets it once somebody resumes it. */
    isTaken: flag,
    /** It still waits for a person. */
    isPending: flag,
    next: texts,
  }),
  kind: 'acts',
  act: (input: InputOf<'answer'>, asking: ToolContext) => answer(input, asking),
};

async function answer(input: InputOf<'answer'>, asking: ToolContext): Promise<object> {
  const { note, run: named, question: name } = input;
  const { run, question } = await questionMeant(
    { ...(named !== undefined && { run: named }), ...(name !== undefined && { question: name }) },
    asking,
  );
  const said = asking.person ? fromPerson(question, run, asking) : saidBy(input);
  if (said === null) return pending(question, run, asking.person !== undefined);
  const kept = { ...said, note: noteOf(note, asking) };
  return settled(await askAs(asking, 'answer', { run, question: question.id, ...kept }, wordOf(asking)));
}

/** What an answer from here may decide. */
export function wordOf({ whyNotShared }: ToolContext): Pick<ToolContext, 'whyNotShared'> {
  return whyNotShared === undefined ? {} : { whyNotShared };
}

/** Who reads the log knows whether the person said it to the client, or the agent passed it on, whatever it notes. */
function noteOf(note: string | undefined, { person }: ToolContext): string {
  const how = person ? 'given in the form of the client' : 'passed on by the agent';
  return note === undefined
    ? how
    : `${how}; the agent notes: ${cutAndCount(inOneLine(note), NOTE_CHARS_MAX)}`;
}

function saidBy({ answer: words, chosen }: SaidByPerson): SaidByPerson | null {
  if (chosen !== undefined) return { chosen };
  return words === undefined ? null : { answer: words };
}

/** What the client's own form gave; null where the person put it off. */
function fromPerson(question: QuestionView, run: string, { person }: ToolContext): SaidByPerson | null {
  const content = person!(`${run} ${question.id}`, personForm(question, run));
  return content === null ? null : saidIn(content);
}

function settled({ run, question, text: asked, answer: words, isTaken }: Answered): object {
  const next = isTaken
    ? [`call engine_status with run ${run} and waitSeconds 60`]
    : [`the answer is kept; to continue: engine_interrupt with action resume and run ${run}`];
  return { run, question, text: asked, answer: words, isTaken, isPending: false, next };
}

function pending(question: QuestionView, run: string, wasAsked: boolean): object {
  const how = answerCommand(question.id, question, run);
  const next = wasAsked
    ? [`the person did not answer; they can at any time with: ${how}`]
    : [`ask the person, and pass their answer to engine_answer; or they type: ${how}`];
  return { run, question: question.id, text: question.text, isTaken: false, isPending: true, next };
}
