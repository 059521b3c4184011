/** Words to a run from outside its engine: cancel it, answer its questions, speak to its agents. */
import { BosunError } from '../contract/errors.ts';
import type { RunView } from '../contract/run.ts';
import { enterEngineRoom } from './engine-room.ts';
import { findRun, openJournal, shownState, type Journal } from './journal.ts';
import type { Request } from '../store/store.ts';

const POLL_MS = 25;

export interface CancelOptions {
  cwd: string;
  run?: string;
  now?: boolean;
}

/** Resolves once the run has ended. */
export async function cancelRun(options: CancelOptions): Promise<RunView> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  requireOpen(run);
  const mode = options.now ? 'now' : 'graceful';
  if (shownState(journal.home, run) !== 'interrupted') {
    await journal.store.request(run.id, { do: 'cancel', mode, by: 'person' });
    const last = await ended(journal, run.id);
    // Its engine may have died before it took the request.
    if (last.state !== 'running' && last.state !== 'cancelling') return last;
  }
  await using room = await enterEngineRoom(options.cwd);
  const drive = await room.drive(run.id);
  await drive.run([{ type: 'run.cancelling', mode, by: 'person' }]);
  return await findRun(room, run.id);
}

export interface AnswerOptions {
  cwd: string;
  run?: string;
  /** The task that asks; the only open question where none is named. */
  question?: string;
  answer: 'yes' | 'no';
  note?: string;
}

export async function answerQuestion(
  options: AnswerOptions,
): Promise<{ run: string; question: string; text: string }> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const open = run.questions;
  if (open.length === 0) throw new BosunError('wrong-state', `run ${run.id} has no open question`);
  const question =
    options.question === undefined
      ? open.length === 1
        ? open[0]
        : undefined
      : open.find(({ id }) => id === options.question);
  if (!question) {
    const list = open.map(({ id, text }) => `${id} (${text})`).join(', ');
    throw new BosunError('usage', `say which question of run ${run.id} is meant: ${list}`);
  }
  const request: Request = {
    do: 'answer',
    question: question.id,
    answer: options.answer,
    by: 'person',
    ...(options.note !== undefined && { note: options.note }),
  };
  await journal.store.request(run.id, request);
  return { run: run.id, question: question.id, text: question.text };
}

const STEER_CHARS_MAX = 64 * 1024;

export interface SteerOptions {
  cwd: string;
  run?: string;
  task: string;
  text: string;
}

/** Says something to the agent of a task that is at work. */
export async function steerTask({ cwd, run: id, task, text }: SteerOptions): Promise<string> {
  await using journal = await openJournal(cwd);
  const run = await findRun(journal, id);
  requireOpen(run);
  if (text.length > STEER_CHARS_MAX)
    throw new BosunError('usage', `that is too long: at most ${STEER_CHARS_MAX} characters at once`);
  const tasks = await journal.store.tasks(run.id, { states: ['running'] });
  if (!tasks.some((view) => view.id === task)) {
    const names = tasks.map((view) => view.id).join(', ') || 'none';
    throw new BosunError(
      'wrong-state',
      `no agent of task ${task} is at work in run ${run.id}; at work: ${names}`,
    );
  }
  await journal.store.request(run.id, { do: 'steer', task, text, by: 'person' });
  return run.id;
}

function requireOpen(run: RunView): void {
  if (run.state === 'running' || run.state === 'cancelling') return;
  throw new BosunError('wrong-state', `run ${run.id} has ended already: it is ${run.state}`);
}

async function ended(journal: Journal, id: string): Promise<RunView> {
  for (;;) {
    const run = await findRun(journal, id);
    if (!['running', 'cancelling'].includes(run.state) || shownState(journal.home, run) === 'interrupted')
      return run;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
