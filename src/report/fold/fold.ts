/** Reads a run's events into what a report needs of each task. Pure; knows nothing of how a report looks. */
import type { BudgetMark, EventOf, Recorded } from '../../contract/event.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { AttemptReport, ConflictReport, QuestionReport } from '../../contract/report.ts';
import type { RunState } from '../../contract/run.ts';
import type { Json } from '../../contract/workflow.ts';
import { agentLine } from '../../schedule/views/agent-line.ts';
import { budgetStop } from '../../schedule/fold/format-2.ts';
import { skippedMs } from '../../schedule/idle.ts';
import { addAccess, answerAccess } from './access.ts';
import { noteAgent, noteUse, runtimeOf } from './agent.ts';
import { noteLimits, noteWarning, type Budgets } from './budget.ts';
import { addDenied } from './denied.ts';
import { endAttempt, newAttempt } from './attempts.ts';
import { addRound, addTasks, addTurn, expandTask, type Folded } from './tasks.ts';
import { noteWait, type Waits } from './waits.ts';
import { addIsolation } from '../isolation.ts';
import { clip, LIMITS } from '../limits.ts';

export interface FoldedRun {
  created: EventOf<'run.created'>;
  startedAtMs: number;
  lastAtMs: number;
  /** Of the time until then, what nobody was there for. */
  idleMs: number;
  endedAtMs: number | null;
  state: RunState;
  because: 'budget' | null;
  /** The last budget of the run that nobody raised when it was asked about. */
  short: BudgetMark | null;
  head: string;
  tasks: Map<string, Folded>;
  conflicts: ConflictReport[];
  questions: QuestionReport[];
  /** What held, as far as it differed between the engines that drove the run; the latest last. */
  isolations: Isolation[];
  budgets: Budgets;
  waits: Waits[];
  hasStarted: boolean;
  /** How much of outputs there is room for. */
  outputCharsLeft: number;
}

export function foldRun(events: Iterable<Recorded>): FoldedRun {
  let run: FoldedRun | undefined;
  for (const recorded of events) run = foldEvent(run, recorded);
  if (!run) throw new TypeError('a journal without run.created has no report');
  return run;
}

/** One event after another, the first of them `run.created`. Large outputs may be references. */
export function foldEvent(run: FoldedRun | undefined, recorded: Recorded): FoldedRun | undefined {
  if (recorded.event.type === 'run.created') return createRun(recorded.event, recorded.atMs);
  if (run) applyEvent(run, recorded);
  return run;
}

/** Tasks as they are shown: as written, those of a task right after it. */
export function inOrder(run: FoldedRun): Folded[] {
  const walk = (task: Folded): Folded[] => [task, ...task.children.flatMap(walk)];
  return [...run.tasks.values()].filter((task) => task.report.parent === null).flatMap(walk);
}

function createRun(created: EventOf<'run.created'>, atMs: number): FoldedRun {
  const run: FoldedRun = {
    created,
    startedAtMs: atMs,
    lastAtMs: atMs,
    idleMs: 0,
    endedAtMs: null,
    state: 'running',
    because: null,
    short: null,
    head: created.base,
    tasks: new Map(),
    conflicts: [],
    questions: [],
    isolations: [],
    budgets: new Map(),
    waits: [],
    hasStarted: false,
    outputCharsLeft: LIMITS.outputCharsInAll,
  };
  addTasks(run.tasks, created.workflow.tasks, created.workflow, undefined);
  return run;
}

function applyEvent(run: FoldedRun, { event, atMs }: Recorded): void {
  const hadEngine = run.isolations.length > 0;
  run.idleMs += Math.max(0, skippedMs(event, atMs, { lastAtMs: run.lastAtMs, hadEngine }));
  // A clock may jump back; a report's times do not.
  run.lastAtMs = Math.max(run.lastAtMs, atMs);
  switch (event.type) {
    case 'run.isolation':
      addIsolation(run.isolations, event);
      forgetAsked(run, run.lastAtMs);
      return;
    case 'clock.jumped':
    case 'run.noted':
      return;
    case 'run.resumed':
      reopen(run, null);
      return;
    case 'task.retried':
      reopen(run, event.task);
      return;
    case 'run.cancelling':
      run.state = 'cancelling';
      return;
    case 'model.waiting':
      noteWait(run.waits, event, run.lastAtMs);
      return;
    case 'budget.warned':
      noteWarning(run.budgets, event, run.lastAtMs);
      return;
    case 'budget.set':
      noteLimits(run.budgets, event, run.lastAtMs);
      return;
    case 'run.finished':
      run.state = event.state;
      run.because = event.because ?? null;
      run.endedAtMs = run.lastAtMs;
      return;
    case 'question.answered': {
      const question = run.questions.findLast(({ id }) => id === event.id);
      if (!question) return;
      Object.assign(question, {
        answer: event.answer,
        by: event.by,
        note: event.note ?? null,
        answeredAtMs: atMs,
      });
      return;
    }
    default: {
      const task = 'task' in event ? run.tasks.get(event.task) : undefined;
      if (task) applyToTask(run, task, event as TaskEvent, run.lastAtMs);
    }
  }
}

type TaskEvent = Exclude<
  Extract<Recorded['event'], { task: string }>,
  {
    type:
      | 'task.retried'
      | 'task.admitted'
      | 'task.again'
      | 'timer.fired'
      | 'attempt.stopping'
      | 'access.asked'
      | 'access.said'
      | 'access.unanswered'
      | 'task.steered';
  }
>;

function applyToTask(run: FoldedRun, task: Folded, event: TaskEvent, atMs: number): void {
  const { report } = task;
  const attempt = 'attempt' in event ? report.attempts.findLast(({ n }) => n === event.attempt) : undefined;
  switch (event.type) {
    case 'attempt.started':
      run.hasStarted = true;
      report.state = 'running';
      report.startedAtMs ??= atMs;
      report.attempts.push(newAttempt(event, runtimeOf(task, event), atMs));
      return;
    case 'attempt.held':
      if (event.by === 'slot') task.queued = event.attempt;
      return;
    case 'attempt.released':
      beginQueued(task, attempt, atMs);
      return;
    case 'attempt.workspace':
      if (attempt) attempt.workspace = event.workspace;
      return;
    case 'attempt.output':
      task.tail.add(event, logCharsEach(run));
      return;
    case 'attempt.agent': {
      if (attempt) noteAgent(attempt, event.event);
      const { kind } = event.event;
      // What is changed and what went wrong have places of their own.
      const line = kind === 'file-changed' || kind === 'error' ? undefined : agentLine(event.event);
      if (line === undefined) return;
      task.tail.add({ attempt: event.attempt, stream: 'agent', text: `${line}\n` }, logCharsEach(run));
      return;
    }
    case 'model.used':
      if (attempt) noteUse(attempt, event);
      return;
    case 'attempt.asked':
      task.asked.set(event.id, event.budget);
      return;
    case 'attempt.answered':
      closeAsk(run, task, event, atMs);
      return;
    case 'attempt.denied':
      addDenied(report, event);
      return;
    case 'attempt.finished':
      beginQueued(task, attempt, atMs);
      if (attempt?.outcome === null) endAttempt(attempt, event, atMs);
      if (event.outcome.kind === 'lost') report.state = 'ready';
      if (event.expansion) task.expansion = event.expansion;
      return;
    case 'task.delayed':
      report.state = 'delayed';
      return;
    case 'task.expanded':
      report.state = 'expanded';
      report.group = event.kind;
      report.startedAtMs ??= atMs;
      expandTask(run.tasks, task, event);
      return;
    case 'task.handed':
      addTurn(run.tasks, task, event);
      return;
    case 'task.round':
      addRound(run.tasks, task, event);
      return;
    case 'task.merging':
      report.state = 'merging';
      return;
    case 'task.merged':
      report.commit = event.commit ?? report.commit;
      run.head = event.commit ?? run.head;
      if (event.conflict) addConflict(run, event, event.conflict.resolved);
      else settleConflict(run, event.task, report.attempts.at(-1)?.purpose);
      return;
    case 'task.conflicted':
      addConflict(run, event, null);
      return;
    case 'question.asked':
      run.questions.push(newQuestion(event, atMs));
      if (report.state === 'running') return; // an attempt asks
      if (report.access.some(({ id }) => id === event.id)) return; // it goes on meanwhile
      report.state = 'asking';
      report.startedAtMs ??= atMs;
      report.message = clip(event.text, LIMITS.messageChars);
      return;
    case 'access.requested':
      addAccess(report, event);
      return;
    case 'access.answered':
      answerAccess(report, event);
      closeQuestion(run, event, atMs);
      return;
    case 'task.finished':
      finishTask(run, task, event, atMs);
  }
}

/** The time before it had a slot is no part of it. */
function beginQueued(task: Folded, attempt: AttemptReport | undefined, atMs: number): void {
  if (attempt && attempt.n === task.queued) attempt.startedAtMs = atMs;
  delete task.queued;
}

function newQuestion(event: EventOf<'question.asked'>, atMs: number): QuestionReport {
  return {
    id: event.id,
    task: event.task,
    text: clip(event.text, LIMITS.messageChars),
    default: event.default,
    askedAtMs: atMs,
    answer: null,
    by: null,
    note: null,
    answeredAtMs: null,
  };
}

/** What attempts asked an earlier engine ended with it. */
function forgetAsked(run: FoldedRun, atMs: number): void {
  for (const { asked } of run.tasks.values()) {
    for (const id of asked.keys()) closeQuestion(run, { id, answer: 'no', by: 'ended' }, atMs);
    asked.clear();
  }
}

/** A yes to a budget that is spent raises it. */
function closeAsk(run: FoldedRun, task: Folded, event: EventOf<'attempt.answered'>, atMs: number): void {
  closeQuestion(run, event, atMs);
  const budget = task.asked.get(event.id);
  task.asked.delete(event.id);
  if (!budget) return;
  run.short ??= event.stops ?? budgetStop(event, budget) ?? null;
  const { account, unit } = budget;
  if (event.answer === 'no' || event.limit === undefined) return;
  noteLimits(run.budgets, { account, limits: { [unit]: event.limit }, by: event.by }, atMs);
}

/** A question of an attempt may be over without a person: the attempt ended. */
function closeQuestion(
  run: FoldedRun,
  { id, answer, by }: Pick<EventOf<'attempt.answered'>, 'id' | 'answer' | 'by'>,
  atMs: number,
): void {
  const open = run.questions.findLast((question) => question.id === id && question.answer === null);
  if (open) Object.assign(open, { answer, by, answeredAtMs: atMs });
}

function finishTask(run: FoldedRun, task: Folded, event: EventOf<'task.finished'>, atMs: number): void {
  const { report } = task;
  const { outcome } = event;
  const isTolerated = task.definition['on-failure'] === 'continue';
  task.isMet =
    outcome.kind === 'done' ||
    (outcome.kind === 'failed' && isTolerated) ||
    (outcome.kind === 'skipped' && outcome.because === 'condition');
  report.state = outcome.kind === 'lost' ? 'failed' : outcome.kind;
  report.endedAtMs = report.state === 'skipped' ? null : atMs;
  report.reason = outcome.kind === 'failed' ? outcome.reason : null;
  report.message = null;
  if (outcome.kind === 'failed' || outcome.kind === 'skipped') {
    report.message = clip(outcome.message, LIMITS.messageChars);
  }
  if (outcome.kind === 'lost') report.message = 'the engine ended before this did';
  if (event.outputRef) report.output = tooMuch(`${event.outputRef.bytes} bytes`);
  else if (event.output !== undefined) report.output = boundOutput(run, event.output);
  else if (outcome.kind === 'done' && task.children.length > 0)
    report.output = `(the outputs of ${task.children.length} tasks, too many for a report)`;
}

function boundOutput(run: FoldedRun, output: Json): Json {
  const chars = JSON.stringify(output).length;
  if (chars > Math.min(LIMITS.outputChars, run.outputCharsLeft)) return tooMuch(`${chars} characters`);
  run.outputCharsLeft -= chars;
  return output;
}

function tooMuch(what: string): string {
  return `(${what} of output, too many for a report)`;
}

/** Tasks that ended without success are open again; what is done stays done. */
function reopen(run: FoldedRun, within: string | null): void {
  run.state = 'running';
  run.because = null;
  run.short = null;
  run.endedAtMs = null;
  const reopened = new Set<string>();
  for (const { report, isMet } of run.tasks.values()) {
    const isStopped = report.state === 'cancelled' || (report.state === 'skipped' && !isMet);
    const isRetried = report.state === 'failed' && (within === null || isWithin(run, report, within));
    const mayChange = report.state === 'skipped' && report.needs.some((need) => reopened.has(need));
    if (isStopped || isRetried || mayChange) reopened.add(report.id);
  }
  for (const id of reopened) {
    const { parent } = run.tasks.get(id)!.report;
    if (parent !== null) reopened.add(parent); // a set goes on to what is added while it is walked
  }
  for (const id of reopened) {
    const task = run.tasks.get(id)!;
    task.isMet = false;
    task.report.state = task.children.length > 0 ? 'expanded' : 'waiting';
  }
}

function isWithin(run: FoldedRun, report: Folded['report'], id: string): boolean {
  if (report.id === id) return true;
  return report.parent !== null && isWithin(run, run.tasks.get(report.parent)!.report, id);
}

/** A conflict that was left open is settled when the task's work is merged after all. */
function settleConflict(run: FoldedRun, task: string, purpose: 'work' | 'resolve' | undefined): void {
  const open = run.conflicts.findLast((conflict) => conflict.task === task && conflict.resolved === null);
  if (open) open.resolved = purpose === 'resolve' ? 'an agent' : 'a later attempt';
}

function addConflict(
  run: FoldedRun,
  event: EventOf<'task.merged'> | EventOf<'task.conflicted'>,
  resolved: string | null,
): void {
  const known = run.conflicts.findLast(({ task }) => task === event.task);
  const conflict = event.conflict!;
  if (known && known.resolved === null && resolved !== null) known.resolved = resolved;
  else if (run.conflicts.length < LIMITS.listEntries) {
    const files = conflict.files.slice(0, LIMITS.listEntries);
    run.conflicts.push({ task: event.task, attempt: event.attempt, files, with: conflict.with, resolved });
  }
}

/** What a tail may hold while many are kept: the limit of one, or a part of four times the limit of all. */
function logCharsEach(run: FoldedRun): number {
  return Math.min(LIMITS.logCharsPerTask, (4 * LIMITS.logCharsInAll) / run.tasks.size);
}
