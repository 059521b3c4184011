/**
 * What happened in a run, beside its state: each attempt, each question and its answer, each conflict, each wait. The
 * engine does without; it is kept by who makes a report, from the same events. It holds records alone: where a task
 * stands, what is spent of which budget and what comes next are the state's to say.
 */
import type { Event, EventOf, Recorded } from '../../contract/event.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { BudgetReport, ConflictReport, QuestionReport } from '../../contract/report.ts';
import { BUDGET_UNITS } from '../../contract/budget-units.ts';
import { isAnswerTo, noAnswer } from '../../contract/question.ts';
import type { Json } from '../../contract/workflow.ts';
import { nodeOf, type Node, type State } from '../state.ts';
import { endAttempt, newAttempt, noteAgent, noteProgress, noteUse } from './attempt.ts';
import { noteHeldTime, type HeldTimes } from './held-times.ts';
import { addIsolation } from './isolations.ts';
import { HISTORY_LIMITS } from './limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import { MessageLog } from './messages.ts';
import {
  addAccess,
  addDenied,
  addService,
  answerAccess,
  attemptOf,
  newTask,
  type TaskHistory,
} from './task.ts';
import { countWait, type Waits } from './waits.ts';

export interface History {
  tasks: Map<string, TaskHistory>;
  conflicts: ConflictReport[];
  questions: QuestionReport[];
  messages: MessageLog;
  /** What held, as far as it differed between the engines that drove the run; the latest last. */
  isolations: Isolation[];
  /** By account: what was told of it while the run went on. */
  budgets: Map<string, Pick<BudgetReport, 'warnings' | 'raises'>>;
  waits: Waits[];
  heldTimes: HeldTimes;
  /** How much of outputs there is room for. */
  outputCharsLeft: number;
}

export function newHistory(): History {
  return {
    tasks: new Map(),
    conflicts: [],
    questions: [],
    messages: new MessageLog(),
    isolations: [],
    budgets: new Map(),
    waits: [],
    heldTimes: new Map(),
    outputCharsLeft: HISTORY_LIMITS.outputCharsInAll,
  };
}

export function historyOf({ tasks }: History, task: string): TaskHistory {
  return tasks.get(task) ?? newTask();
}

/** The next event after `run.created`; `state` is what it was before this event. Large outputs may be references. */
export function remember(history: History, state: State, recorded: Pick<Recorded, 'event' | 'atMs'>): void {
  const { event } = recorded;
  history.messages.add(event, recorded.atMs);
  // A clock may jump back; the times of a history do not.
  const atMs = Math.max(state.lastAtMs, recorded.atMs);
  switch (event.type) {
    case 'run.isolation':
      addIsolation(history.isolations, event);
      // What attempts asked an earlier engine ended with it.
      for (const [id, ask] of state.asked)
        closeQuestion(history, { id, answer: noAnswer(ask).answer, by: 'ended' }, atMs);
      return;
    case 'model.waiting':
      return countWait(history.waits, event, atMs);
    case 'budget.warned': {
      const { account, unit, spent, limit } = event;
      const { warnings } = toldOf(history, account);
      if (warnings.length < HISTORY_LIMITS.listEntries) warnings.push({ atMs, unit, spent, limit });
      return;
    }
    case 'budget.set':
      return noteLimits(history, event, atMs);
    case 'question.answered': {
      const { id, answer, by, note = null } = event;
      const open = state.questions.get(id);
      if (!open || !isAnswerTo(open, event)) return;
      const question = history.questions.findLast((each) => each.id === id);
      if (question)
        Object.assign(question, { answer: clipAnswer(answer), by, note, answeredAtMs: recorded.atMs });
      return;
    }
    default:
      if (TOLD_OF_TASKS.has(event.type)) rememberTask(history, state, event as TaskEvent, atMs);
  }
}

type TaskEvent = EventOf<
  | 'attempt.started'
  | 'attempt.held'
  | 'attempt.released'
  | 'attempt.workspace'
  | 'attempt.agent'
  | 'attempt.progress'
  | 'attempt.answered'
  | 'attempt.denied'
  | 'service.announced'
  | 'attempt.finished'
  | 'model.used'
  | 'task.merged'
  | 'task.conflicted'
  | 'question.asked'
  | 'access.requested'
  | 'access.answered'
  | 'task.finished'
>;

const TOLD_OF_TASKS: ReadonlySet<Event['type']> = new Set<TaskEvent['type']>([
  'attempt.started',
  'attempt.held',
  'attempt.released',
  'attempt.workspace',
  'attempt.agent',
  'attempt.progress',
  'attempt.answered',
  'attempt.denied',
  'service.announced',
  'attempt.finished',
  'model.used',
  'task.merged',
  'task.conflicted',
  'question.asked',
  'access.requested',
  'access.answered',
  'task.finished',
]);

function rememberTask(history: History, state: State, event: TaskEvent, atMs: number): void {
  const node = nodeOf(state, event.task);
  let task = history.tasks.get(event.task);
  if (!task) history.tasks.set(event.task, (task = newTask()));
  const attempt = 'attempt' in event ? attemptOf(task, event.attempt) : undefined;
  switch (event.type) {
    case 'attempt.started':
      task.attempts.push(newAttempt(node, event, atMs));
      return;
    case 'attempt.held':
      return noteHeldTime(history.heldTimes, event, atMs);
    case 'attempt.released':
      noteHeldTime(history.heldTimes, event, atMs);
      if (attempt && isQueued(node, event)) attempt.startedAtMs = atMs;
      return;
    case 'attempt.workspace':
      if (attempt) attempt.workspace = event.workspace;
      return;
    case 'attempt.agent':
      if (attempt) noteAgent(attempt, event.event);
      return;
    case 'attempt.progress':
      if (attempt) noteProgress(attempt, event);
      return;
    case 'model.used':
      if (attempt) noteUse(attempt, event);
      return;
    case 'attempt.answered':
      return closeAsk(history, state, event, atMs);
    case 'attempt.denied':
      return addDenied(task, event);
    case 'service.announced':
      return addService(task, event);
    case 'attempt.finished':
      noteHeldTime(history.heldTimes, event, atMs);
      if (attempt && isQueued(node, event)) attempt.startedAtMs = atMs;
      if (attempt?.outcome === null) endAttempt(attempt, event, atMs);
      return;
    case 'task.merged':
      if (event.conflict) addConflict(history, event, event.conflict.resolved);
      else settleConflict(history, node);
      return;
    case 'task.conflicted':
      return addConflict(history, event, null);
    case 'question.asked':
      history.questions.push(newQuestion(event, atMs));
      return;
    case 'access.requested':
      return addAccess(task, event);
    case 'access.answered':
      answerAccess(task, event);
      return closeQuestion(history, event, atMs);
    case 'task.finished':
      task.output = outputOf(history, node, event) ?? task.output;
  }
}

/** The time before it had a slot is no part of an attempt. */
function isQueued(node: Node, { attempt }: { attempt: number }): boolean {
  return node.held?.by === 'slot' && node.attempt === attempt;
}

function newQuestion(event: EventOf<'question.asked'>, atMs: number): QuestionReport {
  return {
    id: event.id,
    task: event.task,
    text: cutAndCount(event.text, HISTORY_LIMITS.messageChars),
    produced: event.produced ?? [],
    choices: (event.choices ?? []).map(({ label }) => label),
    several: event.several ?? false,
    freeText: event.freeText ?? false,
    default: event.default,
    askedAtMs: atMs,
    answer: null,
    by: null,
    note: null,
    answeredAtMs: null,
  };
}

/** A yes to a budget that is spent raises it. */
function closeAsk(history: History, state: State, event: EventOf<'attempt.answered'>, atMs: number): void {
  closeQuestion(history, event, atMs);
  const budget = state.asked.get(event.id)?.budget;
  if (!budget || event.answer === 'no' || event.limit === undefined) return;
  noteLimits(
    history,
    { account: budget.account, limits: { [budget.unit]: event.limit }, by: event.by },
    atMs,
  );
}

/** A question of an attempt may be over without a person: the attempt ended. */
function closeQuestion(
  { questions }: History,
  { id, answer, by }: Pick<EventOf<'attempt.answered'>, 'id' | 'answer' | 'by'>,
  atMs: number,
): void {
  const open = questions.findLast((question) => question.id === id && question.answeredAtMs === null);
  if (open) Object.assign(open, { answer: clipAnswer(answer), by, answeredAtMs: atMs });
}

function clipAnswer(answer: string | null): string | null {
  return answer === null ? null : cutAndCount(answer, HISTORY_LIMITS.messageChars);
}

function noteLimits(
  history: History,
  { account, limits, by }: Pick<EventOf<'budget.set'>, 'account' | 'limits' | 'by'>,
  atMs: number,
): void {
  const { raises } = toldOf(history, account);
  for (const unit of BUDGET_UNITS) {
    const limit = limits[unit];
    if (limit !== undefined && raises.length < HISTORY_LIMITS.listEntries)
      raises.push({ atMs, unit, limit, by });
  }
}

function toldOf({ budgets }: History, account: string): Pick<BudgetReport, 'warnings' | 'raises'> {
  let told = budgets.get(account);
  if (!told) budgets.set(account, (told = { warnings: [], raises: [] }));
  return told;
}

/** A conflict that was left open is settled when the task's work is merged after all. */
function settleConflict({ conflicts }: History, { id, started }: Node): void {
  const open = conflicts.findLast((conflict) => conflict.task === id && conflict.resolved === null);
  if (open) open.resolved = started?.purpose === 'resolve' ? 'an agent' : 'a later attempt';
}

function addConflict(
  { conflicts }: History,
  { task, attempt, conflict }: EventOf<'task.merged'> | EventOf<'task.conflicted'>,
  resolved: string | null,
): void {
  const known = conflicts.findLast((each) => each.task === task);
  if (known && known.resolved === null && resolved !== null) known.resolved = resolved;
  else if (conflicts.length < HISTORY_LIMITS.listEntries) {
    const files = conflict!.files.slice(0, HISTORY_LIMITS.listEntries);
    conflicts.push({ task, attempt, files, with: conflict!.with, resolved });
  }
}

/** Undefined where it gave nothing. */
function outputOf(history: History, { children }: Node, event: EventOf<'task.finished'>): Json | undefined {
  const { output, outputRef, outcome } = event;
  if (outputRef) return tooMuch(`${outputRef.bytes} bytes`);
  if (output === undefined)
    return outcome.kind === 'done' && children.length > 0
      ? `(the outputs of ${children.length} tasks, too many for a report)`
      : undefined;
  const chars = JSON.stringify(output).length;
  if (chars > Math.min(HISTORY_LIMITS.outputChars, history.outputCharsLeft))
    return tooMuch(`${chars} characters`);
  history.outputCharsLeft -= chars;
  return output;
}

function tooMuch(what: string): string {
  return `(${what} of output, too many for a report)`;
}
