/** A person's answer to a question of a run: the first counts, and whoever comes later is told who was first. */
import { BosunError } from '../contract/errors.ts';
import type { EventOf } from '../contract/event.ts';
import type { Asked } from '../contract/operations.ts';
import type { Answered } from '../contract/outputs.ts';
import { sayAnswer } from '../contract/question.ts';
import { isOpen, type QuestionView, type RunView } from '../contract/run.ts';
import { answerCommand } from '../report/lines/question-lines.ts';
import { isShared } from '../schedule/money/budget.ts';
import { openJournal, requireOneRun, shownState, type Journal } from '../run/journal.ts';
import type { Request } from '../store/store.ts';
import { fittingAnswer } from './fitting-answer.ts';
import { isDriven } from './interrupt.ts';
import { untilTaken } from './until-taken.ts';

export type AnswerOptions = Asked<'answer'> & {
  /** Why this caller may not decide about the limits that all runs of the user share; absent where they may. */
  whyNotShared?: string;
};

/** How long an answer waits to be taken up. */
const TAKEN_MS_MAX = 2000;

/** Which question an answer would go to, for a door that puts it to a person first; rejects where `answer` would. */
export async function questionMeant(options: Naming): Promise<{ run: string; question: QuestionView }> {
  await using journal = await openJournal(options.cwd);
  const { run, question } = await meantQuestion(journal, options);
  return { run: run.id, question };
}

/** Resolves once the run has taken the answer, or where nobody drives the run, once the answer is kept for it. */
export async function answerQuestion(options: AnswerOptions): Promise<Answered> {
  await using journal = await openJournal(options.cwd);
  const { run, question, hasEngine } = await meantQuestion(journal, options);
  requireOwn(question, run, options);
  const answer = fittingAnswer(question, options.chosen ?? options.answer ?? '');
  const { id, askedAtMs } = question;
  const request: Request = {
    do: 'answer',
    question: id,
    askedAtMs,
    ...answer,
    by: options.by,
    ...(options.note !== undefined && { note: options.note }),
  };
  const shown = await shownState(journal, run);
  await journal.store.request(run.id, request, {
    require(waiting) {
      const said = waiting.find((each) => isAnswerOf(each, id));
      if (said) throw answeredInWaiting(run, shown, id, said);
    },
  });
  const isTaken = hasEngine && (await isTakenUp(journal, run.id, question, options.signal));
  if (isTaken) await requireCounted(journal, run.id, question, request);
  return { run: run.id, question: question.id, text: question.text, answer: sayAnswer(answer), isTaken };
}

/** A yes raises the limit of every run, and a no ends this one: neither is for whoever may only work with runs. */
function requireOwn({ id, budget }: QuestionView, run: RunView, { whyNotShared: why }: AnswerOptions): void {
  if (why === undefined || budget === undefined || !isShared(budget.account)) return;
  throw new BosunError(
    'not-trusted',
    `${id} of run ${run.id} is about a limit that all runs share: ${why}; on this machine: ${answerCommand(id, {}, run.id)}`,
  );
}

type Naming = Pick<Asked<'answer'>, 'cwd' | 'run' | 'question' | 'askedAtMs'>;
type AnswerRequest = Extract<Request, { do: 'answer' }>;

function isAnswerOf(request: Request, question: string): request is AnswerRequest {
  return request.do === 'answer' && request.question === question;
}

function answeredInWaiting(run: RunView, shown: string, id: string, said: AnswerRequest): BosunError {
  const next =
    isOpen(run) && shown === 'interrupted'
      ? `continue with: bosun resume ${run.id}`
      : 'the run takes it up in a moment';
  const answer = sayAnswer(said);
  return new BosunError('wrong-state', `${id} of run ${run.id} is answered already: ${answer}; ${next}`, {
    data: { answered: { answer, by: said.by } },
  });
}

function answeredBy(run: string, id: string, event: EventOf<'question.answered'>): BosunError {
  const { by } = event;
  const answer = sayAnswer(event);
  return new BosunError('wrong-state', `${id} of run ${run} was answered already: ${answer}, by ${by}`, {
    data: { answered: { answer, by } },
  });
}

/** Of those who answer at the same time one is the first: whoever was not is told who was. */
async function requireCounted(
  journal: Journal,
  run: string,
  { id, askedAtMs }: QuestionView,
  request: AnswerRequest,
): Promise<void> {
  const answered = await answersTo(journal, run, id);
  const event = answered.find(({ atMs }) => atMs >= askedAtMs)?.event;
  if (!event)
    throw new BosunError(
      'wrong-state',
      `${id} of run ${run} was closed before it could be answered: nobody is left who asks; see: bosun logs ${run}`,
    );
  if (event.by !== request.by || sayAnswer(event) !== sayAnswer(request)) throw answeredBy(run, id, event);
}

/** The oldest first. */
async function answersTo(
  { store }: Journal,
  run: string,
  id: string,
): Promise<{ atMs: number; event: EventOf<'question.answered'> }[]> {
  const found = await store.read(run, { types: ['question.answered'] });
  return found.flatMap(({ atMs, event }) =>
    event.type === 'question.answered' && event.id === id ? [{ atMs, event }] : [],
  );
}

/** The one place that tells which question is meant: where a person is asked first, nothing else is answered after. */
async function meantQuestion(
  journal: Journal,
  { run: id, question: named, askedAtMs }: Naming,
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
  if (askedAtMs !== undefined && question.askedAtMs !== askedAtMs)
    throw new BosunError(
      'wrong-state',
      `${question.id} of run ${run.id} was asked again since, and what it asks may be another thing: look at it, then answer`,
    );
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
    const said = pending.map(({ request }) => request).find((each) => isAnswerOf(each, question.id));
    if (!said) return question;
    throw answeredInWaiting(run, await shownState(journal, run), question.id, said);
  }
  const last = id === undefined ? undefined : (await answersTo(journal, run.id, id)).at(-1);
  if (last) throw answeredBy(run.id, id!, last.event);
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
  { id, askedAtMs }: QuestionView,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const isOpen = (each: QuestionView): boolean => each.id === id && each.askedAtMs === askedAtMs;
  const look = async (): Promise<true | undefined> =>
    (await store.run(run))?.questions.some(isOpen) ? undefined : true;
  return (await untilTaken(look, { msMax: TAKEN_MS_MAX, signal })) ?? false;
}
