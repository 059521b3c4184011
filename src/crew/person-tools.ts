/** Rows of the table of tools: what an agent has for people, and for whoever waits for its output. It does nothing itself. */
import { LABEL_CHARS_MAX, QUESTION_CHARS_MAX, type Said } from '../contract/question.ts';
import { tool } from './tool.ts';

/** Choices of one question, and how long it may wait. */
const ASK_CHOICES_MAX = 20;
const ASK_SECONDS_MAX = 86_400;
const PROGRESS_CHARS_MAX = 500;

export const PERSON_TOOLS = {
  ask: tool({
    description:
      'Asks a person a question and waits for the answer: yes or no, one of several choices, or text. Ask only what ' +
      'you cannot find out and must not guess, since it may take minutes and nobody may be there: then you are told ' +
      'so. Go on with what you think best in that case, and say what you assumed.',
    input: {
      type: 'object',
      properties: {
        question: { type: 'string', maxLength: QUESTION_CHARS_MAX, description: 'What you want to know.' },
        choices: {
          type: 'array',
          items: { type: 'string', maxLength: LABEL_CHARS_MAX },
          maxItems: ASK_CHOICES_MAX,
          description:
            'What there is to choose from, a few words each. Without choices and text it is yes or no.',
        },
        several: { type: 'boolean', description: 'More than one of them can be chosen.' },
        text: { type: 'boolean', description: 'Takes text; with choices, in place of them.' },
        default: {
          type: 'string',
          maxLength: LABEL_CHARS_MAX,
          description: 'The answer where nobody gives one in time: yes, no, one of the choices.',
        },
        timeout: {
          type: 'number',
          minimum: 1,
          maximum: ASK_SECONDS_MAX,
          description: 'How many seconds to wait; ten minutes where you do not say.',
        },
      },
      required: ['question'],
    },
    command: {
      verb: 'ask',
      durations: ['timeout'],
      usage: '<question>',
      options: {
        choices: ['--choices <choice...>', 'ask: what there is to choose from; after the question'],
        several: ['--several', 'ask: more than one can be chosen'],
        text: ['--text', 'ask: takes text'],
        default: ['--default <answer>', 'ask: the answer if nobody gives one in time'],
        timeout: ['--timeout <duration>', 'ask: how long to wait, such as 5m'],
      },
      rest: 'question',
      example: [
        '"Which database?" --choices Postgres SQLite',
        'prints the answer; exit code 1: no, or no answer',
      ],
    },
    say: tellAnswer,
    isYes: ({ answer }) => answer !== null && answer !== 'no',
  }),

  report_progress: tool({
    description:
      'Says how far you are, for the people who watch: one line, and a percentage where you know it. Call it when ' +
      'you begin another part of longer work; only the latest counts.',
    input: {
      type: 'object',
      properties: {
        text: {
          type: 'string',
          maxLength: PROGRESS_CHARS_MAX,
          description: 'What you are doing, in one line.',
        },
        percent: { type: 'number', minimum: 0, maximum: 100, description: 'How much of your task is done.' },
      },
      required: ['text'],
    },
    command: {
      verb: 'report-progress',
      usage: '<text>',
      options: { percent: ['--percent <number>', 'report-progress: how much is done, 0 to 100'] },
      rest: 'text',
      example: ['"writing tests" --percent 60', 'how far you are, for the people who watch'],
    },
    say: ({ recorded }: { recorded: boolean }) =>
      recorded ? ['reported'] : ['reported; it is shown in a moment'],
  }),

  done: tool({
    description:
      'Gives the output of your task as JSON. Where the task asks for a certain form it is checked at once: if it ' +
      'does not fit, the error says why, and you can give another. The last one that fits counts. You can go on working.',
    input: {
      type: 'object',
      properties: { output: { description: 'The output: any JSON.' } },
      required: ['output'],
    },
    command: {
      verb: 'done',
      usage: '<json>',
      rest: 'output',
      readsStdin: true,
      example: [
        '\'{"verdict":"accept"}\'',
        'the output of the task; or on stdin. Exit code 1: it does not fit',
      ],
    },
    say: ({ accepted, why }: GivenOutput) => [accepted ? 'accepted' : `not accepted: ${why}`],
    isYes: ({ accepted }) => accepted,
  }),
};

/** What came of an output that an agent gave. */
export interface GivenOutput {
  accepted: boolean;
  /** Where it is not. */
  why?: string;
}

/** The answer alone, so that a command can use it; else why there is none. */
function tellAnswer({ answer, by, note }: Said): string[] {
  const said = answer === null ? [] : answer.split(/\r?\n/);
  const why = {
    'time-out':
      answer === null
        ? 'no answer: nobody answered in time'
        : '(nobody answered in time: this is the default)',
    ended: 'no answer: the run is ending',
    limit: 'no answer: this task has asked all the questions that it may',
  }[by];
  return [
    ...(by === 'ended' || by === 'limit' ? [] : said),
    ...(why === undefined ? [] : [why]),
    ...(note ? [`note: ${note}`] : []),
  ];
}
