/**
 * Where attempts of a run ask a person something and wait for the answer. It makes facts of what is asked and tells
 * the answer once it is in the journal. It decides nothing, and never leaves anybody waiting.
 */
import { BosunError } from '../contract/errors.ts';
import type { Ask, EventOf } from '../contract/event.ts';
import {
  boundedQuestion,
  noAnswer,
  readAnswer,
  type AnswerForm,
  type Question,
  type Said,
} from '../contract/question.ts';
import type { CrewTools } from '../crew/tools.ts';
import { nodeOf } from '../schedule/state.ts';
import type { Loop } from './loop.ts';

/** How long an agent waits for a person before it has to do without. */
const ASK_MS = 10 * 60_000;
/** Of one task, in all its attempts. */
const QUESTIONS_MAX = 100;

type AskLoop = Pick<Loop, 'state' | 'submit' | 'isOver'>;

interface Waiting {
  form: AnswerForm;
  resolve(said: Said): void;
}

export class AskDesk {
  readonly #loop: AskLoop;
  readonly #waiting = new Map<string, Waiting[]>();
  /** What agents ask and have no answer to, with its id. */
  readonly #open = new Map<string, string>();
  /** How many questions each task has asked, where that is ahead of the state. */
  readonly #given = new Map<string, number>();
  #count = 0;

  constructor(loop: AskLoop) {
    this.#loop = loop;
  }

  /** What does the work behind the crew's tools, for one attempt. */
  toolsFor(task: string, attempt: number): Pick<CrewTools, 'ask'> {
    return {
      ask: ({ question: text, choices, several, text: freeText, default: fallback, timeout }, left) => {
        if (text.trim() === '')
          throw new BosunError('usage', 'the question is empty; say what you want to know');
        const question = boundedQuestion({
          text,
          default: null,
          ...(choices && choices.length > 0 && { choices: choices.map((label) => ({ label })) }),
          ...(several && { several }),
          ...(freeText && { freeText }),
        });
        const answer = fallback === undefined ? noAnswer(question) : readAnswer(question, fallback);
        if ('problem' in answer) throw new BosunError('usage', `default: ${answer.problem}`);
        const timeoutMs = timeout === undefined ? ASK_MS : timeout * 1000;
        return this.askFor(task, attempt, { ...question, default: answer.answer }, { timeoutMs, left });
      },
    };
  }

  /** What an agent wants to know, of its own accord. The same, asked again while it is open, is one question. */
  async askFor(
    task: string,
    attempt: number,
    question: Question,
    { timeoutMs = ASK_MS, left }: { timeoutMs?: number; left?: AbortSignal | undefined } = {},
  ): Promise<Said> {
    const key = JSON.stringify([task, attempt, question]);
    const count = Math.max(nodeOf(this.#loop.state, task).questions, this.#given.get(task) ?? 0);
    const known = this.#open.get(key);
    if (known === undefined) {
      if (count >= QUESTIONS_MAX) return { ...noAnswer(question), by: 'limit' };
      this.#given.set(task, count + 1);
    }
    const id = known ?? `${task}+${attempt}.${++this.#count}`;
    this.#open.set(key, id);
    try {
      return await this.ask(task, attempt, { id, ...question, timeoutMs }, left);
    } finally {
      if (!this.#waiting.has(id)) this.#open.delete(key);
    }
  }

  /**
   * Whoever asks the same while it is open gets the same answer. `left` aborts where whoever asked hung up: a question
   * that nobody waits for any more is taken back.
   */
  ask(task: string, attempt: number, ask: Ask, left?: AbortSignal): Promise<Said> {
    if (this.#loop.isOver || left?.aborted) return Promise.resolve({ ...noAnswer(ask), by: 'ended' });
    const { promise, resolve } = Promise.withResolvers<Said>();
    const own: Waiting = { form: ask, resolve };
    const waiting = this.#waiting.get(ask.id);
    if (waiting) waiting.push(own);
    else {
      this.#waiting.set(ask.id, [own]);
      this.#loop.submit({ type: 'attempt.asked', task, attempt, ...ask });
    }
    const leave = (): void => this.#leave(ask.id, own);
    left?.addEventListener('abort', leave, { once: true });
    return promise.finally(() => left?.removeEventListener('abort', leave));
  }

  answered({ id, answer, chosen, by, note }: EventOf<'attempt.answered'>): void {
    const said = { answer, ...(chosen && { chosen }), by, ...(note !== undefined && { note }) };
    this.#tell(id, () => said);
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const id of this.#waiting.keys()) this.#tell(id, (form) => ({ ...noAnswer(form), by: 'ended' }));
  }

  #leave(id: string, own: Waiting): void {
    own.resolve({ ...noAnswer(own.form), by: 'ended' });
    const others = (this.#waiting.get(id) ?? []).filter((waiting) => waiting !== own);
    if (others.length > 0) return void this.#waiting.set(id, others);
    this.#waiting.delete(id);
    this.#loop.submit({ type: 'question.answered', id, ...noAnswer(own.form), by: 'left' });
  }

  #tell(id: string, said: (form: AnswerForm) => Said): void {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const { form, resolve } of waiting) resolve(said(form));
  }
}
