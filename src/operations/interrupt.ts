/** Words to a run from outside its engine: cancel it, answer its questions, speak to its agents. */
import { BosunError } from '../contract/errors.ts';
import type { Asked, OutputOf } from '../contract/operations.ts';
import type { Answered } from '../contract/outputs.ts';
import { sayAnswer } from '../contract/question.ts';
import { isOpen, type QuestionView, type RunView } from '../contract/run.ts';
import { fittingAnswer } from './fitting-answer.ts';
import { requireTask } from './find-task.ts';
import { findRun, openJournal, requireOneRun, shownState, type Journal } from '../run/journal.ts';
import type { Request } from '../store/store.ts';
import type { WatchOptions } from './run.ts';
import { untilTaken } from './until-taken.ts';

/** How long an answer waits to be taken up, and how long the word to cancel: nobody cancels again where it was slow. */
const TAKEN_MS_MAX = 2000;
const CANCELLING_MS_MAX = 5000;

export type CancelOptions = Asked<'cancel'> &
  Pick<WatchOptions, 'hooks'> & {
    /** Is told, once, where the run takes its time to end. */
    waits?(text: string): void;
  };

/** Whoever hooks keep for longer is not waited for. */
const LET_GO_MS_MAX = 5000;
const LOOK_MS = 20;

/** Resolves once the run has ended; rejects where its engine does not even take note. */
export async function cancelRun(options: CancelOptions): Promise<RunView> {
  await using journal = await openJournal(options.cwd);
  const run = await requireOneRun(journal, options.run, 'bosun cancel <run>');
  requireOpen(run);
  const { by } = options;
  const mode = options.now ? 'now' : 'graceful';
  if (await isDriven(journal, run)) {
    await journal.store.request(run.id, { do: 'cancel', mode, by });
    const last = await ended(journal, run.id, options);
    // Its engine may have died before it took the request.
    if (!isOpen(last)) {
      await letGo(journal, run.id, options.signal);
      return last;
    }
  }
  // Answers and messages, which are of this file too, need nothing of what drives a run.
  const { endUndriven } = await import('./run.ts');
  try {
    await endUndriven({ ...options, run: run.id });
  } catch (error) {
    // An engine that looks has just begun it, and is told.
    if (run.pending && error instanceof BosunError && error.code === 'busy') return await cancelRun(options);
    throw error;
  }
  return await findRun(journal, run.id);
}

/** Its engine still writes the report and calls hooks: until it lets go, nobody can resume the run. */
async function letGo({ store }: Journal, run: string, signal?: AbortSignal): Promise<void> {
  const untilMs = performance.now() + LET_GO_MS_MAX;
  while (performance.now() < untilMs && (await store.driver(run))) {
    if (signal?.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function isDriven(journal: Journal, run: RunView): Promise<boolean> {
  return !['interrupted', 'pending'].includes(await shownState(journal, run));
}

/** Which question an answer would go to, for a door that puts it to a person first; rejects where `answer` would. */
export async function questionMeant(options: Naming): Promise<{ run: string; question: QuestionView }> {
  await using journal = await openJournal(options.cwd);
  const { run, question } = await meantQuestion(journal, options);
  return { run: run.id, question };
}

/** Resolves once the run has taken the answer, or where nobody drives the run, once the answer is kept for it. */
export async function answerQuestion(options: Asked<'answer'>): Promise<Answered> {
  await using journal = await openJournal(options.cwd);
  const { run, question, hasEngine } = await meantQuestion(journal, options);
  const answer = fittingAnswer(question, options.chosen ?? options.answer ?? '');
  const request: Request = {
    do: 'answer',
    question: question.id,
    ...answer,
    by: options.by,
    ...(options.note !== undefined && { note: options.note }),
  };
  await journal.store.request(run.id, request);
  const isTaken = hasEngine && (await isTakenUp(journal, run.id, question.id, options.signal));
  return { run: run.id, question: question.id, text: question.text, answer: sayAnswer(answer), isTaken };
}

type Naming = Pick<Asked<'answer'>, 'cwd' | 'run' | 'question'>;

/** The one place that tells which question is meant: where a person is asked first, nothing else is answered after. */
async function meantQuestion(
  journal: Journal,
  { run: id, question: named }: Naming,
): Promise<{ run: RunView; question: QuestionView; hasEngine: boolean }> {
  const run = await requireOneRun(
    journal,
    id,
    `bosun answer ${named === undefined ? '' : '<question> '}<answer> --run <run>`,
    ({ questions }) =>
      questions.some(
        ({ id: each, task, label }) => named === undefined || [each, task, label].includes(named),
      ),
  );
  const question = await openQuestion(journal, run, named);
  const hasEngine = await isDriven(journal, run);
  if (hasEngine || question.id === question.task) return { run, question, hasEngine };
  throw new BosunError(
    'wrong-state',
    `the agent that asked ${question.id} is gone with its bosun process; continue with: bosun resume ${run.id} (it asks again where it has to)`,
  );
}

async function openQuestion(
  journal: Journal,
  run: RunView,
  named: string | undefined,
): Promise<QuestionView> {
  const open = run.questions;
  const id = named === undefined ? undefined : await questionId(journal, run, named);
  const meant = id === undefined ? open : open.filter(({ task }) => task === id);
  const question = open.find((each) => each.id === id) ?? (meant.length === 1 ? meant[0] : undefined);
  if (question) {
    const pending = await journal.store.requests(run.id);
    const said = pending.find(({ request }) => request.do === 'answer' && request.question === question.id);
    if (said?.request.do !== 'answer') return question;
    throw new BosunError(
      'wrong-state',
      `${question.id} of run ${run.id} is answered already: ${sayAnswer(said.request)}; ${isOpen(run) && (await shownState(journal, run)) === 'interrupted' ? `continue with: bosun resume ${run.id}` : 'the run takes it up in a moment'}`,
    );
  }
  const events = id === undefined ? [] : await journal.store.read(run.id, { withoutOutput: true });
  for (const { event } of events.toReversed())
    if (event.type === 'question.answered' && event.id === id)
      throw new BosunError(
        'wrong-state',
        `${id} of run ${run.id} was answered already: ${sayAnswer(event)}, by ${event.by}`,
      );
  if (open.length === 0)
    throw new BosunError('wrong-state', `run ${run.id} has no open question; see: bosun status ${run.id}`);
  const list = open.map((each) => `${each.id} (${each.text})`).join(', ');
  throw new BosunError(
    'usage',
    `run ${run.id} asks: ${list}; name one of them: bosun answer <question> <answer>`,
  );
}

/** A question is named after its task, which people may know by its label: `review[security]+1`. */
async function questionId({ store }: Journal, run: RunView, named: string): Promise<string> {
  const end = named.lastIndexOf(']') + 1;
  if (end === 0) return named;
  const labels = new Map((await store.tasks(run.id)).map(({ id, label = id }) => [label, id]));
  for (let at = named.length; at >= end; at--) {
    const id = labels.get(named.slice(0, at));
    if (id !== undefined) return id + named.slice(at);
  }
  return named;
}

/** An engine looks for requests often; one that is stopped or dies takes none. */
async function isTakenUp(
  { store }: Journal,
  run: string,
  question: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const look = async (): Promise<true | undefined> =>
    (await store.run(run))?.questions.some(({ id }) => id === question) ? undefined : true;
  return (await untilTaken(look, { msMax: TAKEN_MS_MAX, signal })) ?? false;
}

/** Says something to the agent of a task that is at work. */
export async function steerTask({
  cwd,
  run: id,
  task,
  text,
  by,
}: Asked<'steer'>): Promise<OutputOf<'steer'>> {
  await using journal = await openJournal(cwd);
  const run = await requireOneRun(journal, id, 'bosun steer <task> "<message>" --run <run>');
  await requireDriven(journal, run);
  const tasks = await journal.store.tasks(run.id);
  const running = tasks.filter((view) => view.state === 'running' && view.steerable !== false);
  const names = running.map((view) => view.label ?? view.id).join(', ');
  const others = names === '' ? 'no agent is running now' : `running agents: ${names}`;
  const found = await requireTask(run.id, tasks, task, ` (${others})`);
  if (found.state !== 'running')
    throw new BosunError(
      'wrong-state',
      `task ${task} is ${found.state}: only a running agent can be sent a message; ${others}`,
    );
  if (found.steerable === false)
    throw new BosunError(
      'wrong-state',
      `task ${task} runs a plain command, which reads no messages; ${others}`,
    );
  await journal.store.request(run.id, { do: 'steer', task: found.id, text, by });
  return { run: run.id };
}

function requireOpen(run: RunView): void {
  if (isOpen(run)) return;
  const next = run.state === 'done' ? `see: bosun report ${run.id}` : `continue with: bosun resume ${run.id}`;
  throw new BosunError('wrong-state', `run ${run.id} has ended already: it is ${run.state}; ${next}`);
}

async function requireDriven(journal: Journal, run: RunView): Promise<void> {
  requireOpen(run);
  const state = await shownState(journal, run);
  if (state === 'pending')
    throw new BosunError(
      'wrong-state',
      `run ${run.id} is queued, so no agent of it is at work; start it with: bosun work`,
    );
  if (state !== 'interrupted') return;
  throw new BosunError(
    'wrong-state',
    `run ${run.id} was interrupted: its bosun process is gone; continue with: bosun resume ${run.id}`,
  );
}

async function ended(journal: Journal, id: string, options: CancelOptions): Promise<RunView> {
  const { signal } = options;
  const look = async (): Promise<RunView | undefined> => {
    const run = await findRun(journal, id);
    const isOver = !isOpen(run) || (await shownState(journal, run)) === 'interrupted';
    return isOver ? run : undefined;
  };
  const soon = await untilTaken(look, { msMax: CANCELLING_MS_MAX, signal });
  if (soon) return soon;
  const { pid } = (await journal.store.driver(id)) ?? { pid: 0 };
  const pending = await journal.store.requests(id);
  if (pending.some(({ request }) => request.do === 'cancel')) throw notTaken(id, pid);
  options.waits?.(`run ${id} is being cancelled, and its work is kept: waiting for process ${pid} to end`);
  return (await untilTaken(look, { msMax: Infinity, signal }))!;
}

/** It is stopped (Ctrl-Z, a debugger), or its disk hangs. */
function notTaken(run: string, pid: number): BosunError {
  return new BosunError(
    'busy',
    `run ${run} is not cancelled yet: its bosun process (${pid}) does not react. It cancels the run as soon as it does (after Ctrl-Z: kill -CONT ${pid}); or end it with kill -9 ${pid}, then type bosun cancel ${run} again`,
  );
}
