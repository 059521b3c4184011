/**
 * Answers to questions on their way to a run. One that cannot be sent, since the server does not answer, is kept and sent
 * with the id of its question, and when that was asked, once it does; it never answers another question. Whatever came of a question is told for a
 * while, also where somebody else was first.
 *
 *   (open) ──▶ sending ──▶ sent            the run has it
 *                 ├──(no server)──▶ kept ──(server again)──▶ sending
 *                 ├──▶ elsewhere           somebody else was first
 *                 └──▶ refused             it does not fit; the question is still open
 */
import { useSyncExternalStore } from 'react';
import { sayAnswer } from '../../src/contract/question.ts';
import { ask, Problem, runPath } from '../data/api.ts';
import { refreshRun } from '../data/home-store.ts';
import { onEvents } from '../data/stream.ts';

export interface QuestionAt {
  repository: string;
  run: string;
  id: string;
}

/** Which asking is meant: some ids are used again. */
type Asking = QuestionAt & { askedAtMs: number };

export interface Given {
  /** What a person says; a list of labels where several can be chosen. */
  answer: string | readonly string[];
  note?: string;
}

export type Answering =
  | { state: 'sending' | 'kept' | 'sent'; answer: string }
  | { state: 'elsewhere'; answer: string; by: string }
  | { state: 'refused'; why: string };

const AGAIN_MS = 1500;
/** As many that were answered are remembered. */
const KNOWN_MAX = 200;

const known = new Map<string, Answering>();
const kept = new Map<string, { question: Asking; given: Given }>();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isListening = false;

function keyOf({ repository, run, id }: QuestionAt): string {
  return `${repository}/${run}/${id}`;
}

export function useAnswering(question: QuestionAt): Answering | undefined {
  return useSyncExternalStore(listenAnswers, () => known.get(keyOf(question)));
}

export function giveAnswer(question: Asking, given: Given): void {
  const now = known.get(keyOf(question));
  if (now && now.state !== 'refused') return; // one answer, however often a button is pressed
  void send(question, given);
}

async function send(question: Asking, given: Given): Promise<void> {
  const { repository, run, id, askedAtMs } = question;
  const key = keyOf(question);
  const answer = words(given);
  tell(key, { state: 'sending', answer });
  const { answer: said, note } = given;
  const body = {
    question: id,
    askedAtMs,
    ...(typeof said === 'string' ? { answer: said } : { chosen: said }),
    ...(note !== undefined && note.trim() !== '' && { note: note.trim() }),
  };
  try {
    await ask(`${runPath(repository, run)}/answer`, { body });
    kept.delete(key);
    tell(key, { state: 'sent', answer });
  } catch (error) {
    if (error instanceof Problem && error.status === 0) {
      kept.set(key, { question, given });
      tell(key, { state: 'kept', answer });
      timer ??= setTimeout(sendKept, AGAIN_MS);
      return;
    }
    const wasKept = kept.delete(key);
    const why = error instanceof Error ? error.message : String(error);
    // Of one that was on its way when the server went nobody knew whether it had arrived.
    const other = error instanceof Problem ? error.answered : undefined;
    if (other && wasKept && other.answer === answer) tell(key, { state: 'sent', answer });
    else if (other) tell(key, { state: 'elsewhere', ...other });
    else tell(key, { state: 'refused', why: wasKept ? `Kept, then refused: ${why}` : why });
  } finally {
    refreshRun(repository, run);
  }
}

function sendKept(): void {
  timer = undefined;
  for (const { question, given } of kept.values()) void send(question, given);
}

/** Whoever closes the page while some are not sent is asked. */
function listenAnswers(listener: () => void): () => void {
  listeners.add(listener);
  if (!isListening) {
    isListening = true;
    onEvents(null, (events) => {
      for (const { repository, run, event } of events) {
        if (event.type !== 'question.answered' && event.type !== 'question.asked') continue;
        const key = keyOf({ repository, run, id: event.id });
        // Asked again: what was said before was to another question.
        if (event.type === 'question.asked') {
          if (!kept.has(key) && known.delete(key)) changed();
          continue;
        }
        const own = known.get(key);
        if (own?.state === 'sending' || own?.state === 'sent') continue;
        kept.delete(key);
        tell(key, { state: 'elsewhere', answer: sayAnswer(event), by: event.by });
      }
    });
    addEventListener('beforeunload', (event) => {
      if (kept.size > 0) event.preventDefault();
    });
  }
  return () => {
    listeners.delete(listener);
  };
}

function words({ answer }: Given): string {
  return typeof answer === 'string' ? answer : answer.join(', ');
}

function tell(key: string, answering: Answering): void {
  known.delete(key);
  known.set(key, answering);
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value!);
  changed();
}

function changed(): void {
  for (const listener of listeners) listener();
}
