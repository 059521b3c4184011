/**
 * Puts a question of an agent's program to a person, as it is, and tells of it. It answers nothing itself, and never
 * hangs: every question has a time-out.
 */
import { boundedQuestion, noAnswer, type Choice } from '../../contract/question.ts';
import type { Job } from '../runtime.ts';

/** Of one attempt: more than its tools at work at once could mean. */
const OPEN_QUESTIONS_MAX = 64;

/** The same job, for one whose program is ended where it asks without end and waits for no answer. */
export function askingSome(job: Job, breakOff: (why: string) => void): Job {
  let open = 0;
  return {
    ...job,
    async ask(question) {
      if (open >= OPEN_QUESTIONS_MAX) {
        breakOff(`it asked more than ${OPEN_QUESTIONS_MAX} questions at once`);
        return { ...noAnswer(question), by: 'limit' };
      }
      open += 1;
      try {
        return await job.ask(question);
      } finally {
        open -= 1;
      }
    },
  };
}

export interface AgentQuestion {
  /** How the program calls what it asks about. */
  id: string;
  text: string;
  choices?: readonly Choice[];
  several?: boolean;
  freeText?: boolean;
  /** Whether the agent may use a tool. */
  tool?: true;
}

export interface PersonSaid {
  /** Null where nobody said anything. */
  answer: string | null;
  /** The choices that were taken, as positions in what was asked; none where the words are the person's own. */
  picked: number[];
  note?: string;
}

/** Yes or no where there is nothing to choose from and no text is taken; then no is the default. */
export async function askPerson(
  { ask, emit }: Pick<Job, 'ask' | 'emit'>,
  { id, text, choices, several, freeText, tool }: AgentQuestion,
): Promise<PersonSaid> {
  const question = boundedQuestion({
    text,
    default: choices || freeText ? null : 'no',
    ...(choices && { choices: [...choices] }),
    ...(several && { several }),
    ...(freeText && { freeText }),
    ...(tool && { tool }),
  });
  const { answer, chosen, note } = await ask(question);
  emit({ kind: 'asked', id, text: question.text, answer });
  const labels = chosen ?? (answer === null ? [] : [answer]);
  const picked = (question.choices ?? []).flatMap(({ label }, n) => (labels.includes(label) ? [n] : []));
  return { answer, picked, ...(note !== undefined && { note }) };
}
