/**
 * State as a fold over events: `create` for the first event, `apply` for each further one. Everything that
 * changes a State is in this folder, and nothing here chooses: what may start, what comes after an attempt, which tasks
 * are open again, when a run stops are decisions, which are carried over as they stand in their events. What waits for a
 * decision is put into `todo` (or `goesOn`, `asks`, `wants`), what waits for a slot into `ready`.
 */
import type { BudgetMark, Event, EventOf } from '../../contract/event.ts';
import { isAnswerTo } from '../../contract/question.ts';
import { turnClocks, shiftClocks } from '../money/budget.ts';
import { skippedMs } from '../idle.ts';
import { changeAccess, closeRequests, ownerEnded, personSaid } from './access.ts';
import {
  answerGiven,
  askAnswered,
  attemptAsked,
  closeAsked,
  forgetAsked,
  questionAsked,
  setLimits,
} from './asked.ts';
import { again, attemptEnded, delay, inherited, keepOutput } from './attempts.ts';
import { noteSpending } from './budget.ts';
import { noteHeld, noteWait } from './held.ts';
import { changeMail, closeInbox } from './messages.ts';
import { noteSession } from './session.ts';
import { move, push, queue, uncount, unpush } from './moves.ts';
import { callContinuous, endRest } from './continuous.ts';
import { addCandidates, addItems, addJudge, addRound, addTasks, addTurn } from './nodes.ts';
import { reopen } from './reopen.ts';
import { hasEnded, hasFailed, nodeOf, Queue, type Node, type State } from '../state.ts';

export function create(event: EventOf<'run.created'>, atMs: number): State {
  const state: State = {
    id: event.id,
    workflow: event.workflow,
    source: event.source,
    dirty: event.dirty,
    base: event.base,
    head: event.base,
    shadow: event.base,
    inputs: event.inputs,
    state: 'running',
    nodes: new Map(),
    top: new Map(),
    todo: new Queue(),
    ready: new Queue(),
    continuous: [],
    running: 0,
    open: 0,
    questions: new Map(),
    requests: new Map(),
    asks: new Queue(),
    asked: new Map(),
    wants: new Queue(),
    messages: new Map(),
    mail: new Queue(),
    keepers: new Set(),
    spending: new Map(),
    limits: new Map(),
    clocks: new Map(),
    read: () => {
      throw new Error('this state was made without its values');
    },
    waits: new Map(),
    createdAtMs: atMs,
    lastAtMs: atMs,
    idleMs: 0,
    hasEngine: false,
    counts: {},
  };
  const added = addTasks(state, event.workflow.tasks, event.workflow, event.inputs, undefined);
  for (const node of added) if (node.unmet === 0) push(state, node);
  return state;
}

export function apply(state: State, event: Event, atMs: number): void {
  const { lastAtMs, hasEngine } = state;
  skip(state, skippedMs(event, atMs, { lastAtMs, hadEngine: hasEngine }));
  change(state, event, atMs);
  state.lastAtMs = Math.max(state.lastAtMs, atMs);
  while (state.ready.peek() && state.ready.peek()!.state !== 'ready') state.ready.shift();
}

function change(state: State, event: Event, atMs: number): void {
  switch (event.type) {
    case 'run.created':
      throw new Error('a run is created once');
    case 'run.isolation':
      forgetAsked(state); // whoever asked an earlier engine is gone
      state.hasEngine = true;
      return;
    case 'clock.jumped':
      return; // see skip
    case 'model.waiting':
      return noteWait(state, event, atMs);
    case 'budget.warned':
    case 'run.noted':
      return; // for people; nothing is decided by it
    case 'budget.set':
      return setLimits(state, event.account, event.limits);
    case 'run.resumed':
    case 'task.retried':
      state.goesOn = event;
      return;
    case 'run.reopened':
      return reopen(state, event);
    case 'tasks.ready':
      for (const id of event.tasks) ready(state, nodeOf(state, id));
      return;
    case 'run.cancelling':
      return cancel(state, event.mode);
    case 'run.finished':
      state.state = event.state;
      state.endedAtMs = atMs;
      return;
    case 'question.answered': {
      const question = state.questions.get(event.id);
      // The fence: only what the question takes is an answer to it.
      if (!question || !isAnswerTo(question, event)) return;
      state.questions.delete(event.id);
      if (state.requests.has(event.id)) return personSaid(state, event);
      if (state.asked.has(event.id)) return answerGiven(state, event);
      const node = nodeOf(state, question.task);
      if (node.state !== 'asking') return;
      node.answer = event;
      return push(state, node);
    }
    default:
      return changeNode(state, nodeOf(state, event.task), event, atMs);
  }
}

/** The wall clock went so far without anybody at work: no budget's minutes, and no attempt's. */
function skip(state: State, ms: number): void {
  if (ms === 0) return;
  state.idleMs += Math.max(0, ms);
  shiftClocks(state, ms);
  for (const node of state.nodes.values()) if (node.attemptAtMs !== undefined) node.attemptAtMs += ms;
}

type NodeEvent = Exclude<
  Event,
  {
    type:
      | 'run.created'
      | 'run.isolation'
      | 'run.resumed'
      | 'run.cancelling'
      | 'run.finished'
      | 'run.reopened'
      | 'tasks.ready'
      | 'task.retried'
      | 'clock.jumped'
      | 'run.noted'
      | 'model.waiting'
      | 'budget.warned'
      | 'budget.set'
      | 'question.answered';
  }
>;

function changeNode(state: State, node: Node, event: NodeEvent, atMs: number): void {
  switch (event.type) {
    case 'attempt.output':
    case 'attempt.denied':
    case 'task.steered':
      return;
    case 'attempt.held':
    case 'attempt.released':
      return noteHeld(state, node, event, atMs);
    case 'attempt.agent':
      if (event.event.kind === 'started') noteSession(node, event.attempt, event.event.session);
      return;
    case 'model.used':
      if (event.attempt === node.attempt) node.hasUsedModel = true;
      return noteSpending(state, node, event);
    case 'attempt.asked':
      return attemptAsked(state, event);
    case 'attempt.answered':
      askAnswered(state, event);
      if (event.stops) stopForBudget(state, event.stops);
      return;
    case 'access.requested':
    case 'access.said':
    case 'access.unanswered':
    case 'access.asked':
    case 'access.answered':
      return changeAccess(state, node, event);
    case 'message.sent':
    case 'message.read':
    case 'message.delivered':
    case 'message.refused':
      return changeMail(state, node, event, atMs);
    case 'question.asked':
      if (state.asked.has(event.id)) {
        keepQuestion(state, event, atMs);
        return questionAsked(state, event.id);
      }
      if (!state.requests.has(event.id)) break;
      keepQuestion(state, event, atMs);
      return changeAccess(state, node, event);
    case 'attempt.workspace':
      if (event.attempt !== node.attempt) return;
      node.workspace = event.workspace;
      node.workspaceBase = event.base;
      return;
    case 'timer.fired':
      if (node.resting && event.attempt === node.children.length) endRest(state, node, 'isDue');
      if (node.state === 'delayed' && event.attempt === node.attempt) queue(state, node);
      return;
    case 'attempt.finished':
      // The fence: only the attempt that runs may end, and only once.
      if (node.state === 'running' && event.attempt === node.attempt && !node.ended)
        attemptEnded(state, node, event, atMs);
      return;
    case 'task.merged':
      if (node.state !== 'merging' || event.attempt !== node.attempt) return;
      node.merged = event;
      node.results = [event.result];
      state.shadow = event.shadow;
      if (event.commit !== undefined) node.branchCommit = state.head = event.commit;
      return push(state, node);
    case 'task.conflicted':
      if (node.state !== 'merging' || event.attempt !== node.attempt) return;
      node.conflicted = event;
      return push(state, node);
  }

  // What follows are decisions: each answers for the node at the head of `todo`, or starts one that was ready.
  if (state.todo.peek() === node) unpush(state, node);
  switch (event.type) {
    case 'task.admitted':
      node.admitted = true;
      return queue(state, node);
    case 'attempt.started':
      move(state, node, 'running');
      state.running++;
      node.attempt = event.attempt;
      node.started = event;
      node.rounds = event.continues === undefined && event.purpose === 'work' ? 1 : node.rounds + 1;
      node.startedAtMs ??= atMs;
      node.attemptAtMs = atMs;
      turnClocks(state, node, 1, atMs);
      delete node.next;
      delete node.isCollected;
      delete node.hasUsedModel;
      if (event.continues === undefined) {
        delete node.workspace;
        delete node.workspaceBase;
      }
      return;
    case 'attempt.stopping':
      node.stopping = event.mode;
      return;
    case 'task.again':
      return again(state, node, event, atMs);
    case 'task.delayed':
      delay(state, node, event.delayMs, atMs);
      node.failures++;
      node.next = event.session ? { session: event.session } : {};
      delete node.ended;
      return;
    case 'task.merging':
      move(state, node, 'merging');
      return;
    case 'question.asked':
      move(state, node, 'asking');
      keepQuestion(state, event, atMs);
      node.startedAtMs ??= atMs;
      return;
    case 'task.expanded':
      return expanded(state, node, event, atMs);
    case 'task.round':
      delete node.resting;
      delete node.delayMs;
      delete node.isDue;
      delete node.isCalled;
      return push(state, addRound(state, node, event));
    case 'task.resting':
      node.resting = true;
      if (event.delayMs !== undefined) node.delayMs = event.delayMs;
      return;
    case 'task.handed':
      node.rounds += event.rejected || node.rounds === 0 ? 1 : 0;
      return push(state, addTurn(state, node, event));
    case 'task.judging': {
      const judge = addJudge(state, node);
      node.judge = judge.id;
      return push(state, judge);
    }
    case 'task.picked':
      return picked(state, node, event);
    case 'task.finished':
      return finished(state, node, event, atMs);
  }
}

/** What was not picked is to be decided on, and so is the race itself where nothing within is under way. */
function picked(state: State, node: Node, { candidate, because }: EventOf<'task.picked'>): void {
  const won = nodeOf(state, candidate);
  node.picked = { candidate, because };
  node.results = won.results;
  if (won.changedCount !== undefined) node.changedCount = won.changedCount;
  for (const child of node.children) if (child !== won && !hasEnded(child)) push(state, child);
  if (node.open === 0) push(state, node);
}

function ready(state: State, node: Node): void {
  unpush(state, node);
  queue(state, node);
}

function keepQuestion(state: State, event: EventOf<'question.asked'>, atMs: number): void {
  const { type: _, ...question } = event;
  state.questions.set(question.id, { ...question, askedAtMs: atMs });
}

function expanded(state: State, node: Node, event: EventOf<'task.expanded'>, atMs: number): void {
  if (event.kind !== 'expand') uncount(state, node);
  if (event.kind === 'handoff') node.rounds = 0;
  move(state, node, 'expanded');
  node.startedAtMs ??= atMs;
  delete node.ended;
  delete node.merged;
  if (event.kind === 'expand') node.own = node.results;
  if (node.isReplanning) {
    for (const child of node.children) if (hasFailed(child)) child.isReplaced = true;
    delete node.isReplanning;
  }
  let added: Node[];
  if (event.kind === 'for-each') added = addItems(state, node, event.items ?? []);
  else if (event.kind === 'race') added = addCandidates(state, node, event.candidates ?? []);
  else if (event.kind === 'handoff' || event.kind === 'continuous') added = [];
  else if (event.kind === 'uses') {
    const nested = node.workflow.nested![node.task.uses!]!;
    added = addTasks(state, nested.tasks, nested, event.inputs ?? {}, node);
  } else added = addTasks(state, node.expansion ?? {}, node.workflow, node.inputs, node);
  for (const child of added) if (child.unmet === 0) push(state, child);
  if (node.open === 0) push(state, node);
}

function finished(state: State, node: Node, event: EventOf<'task.finished'>, atMs: number): void {
  if (node.state === 'running' && !node.ended)
    throw new Error(`${node.id} has an attempt that has not ended`);
  const { outcome } = event;
  if (outcome.kind === 'lost') throw new Error('a task is never lost');
  if (outcome.kind !== 'done') node.results = [];
  if (node.children.length > 0 && node.kind !== 'race')
    node.results = [...new Set(node.children.flatMap((child) => child.results))];
  if (node.results.length === 0) node.results = inherited(state, node);
  node.outcome = outcome;
  node.endedAtMs = atMs;
  keepOutput(node, event);
  delete node.ended;
  delete node.resting;
  // A budget is not the task's own, although one of its attempts asked.
  for (const [id, question] of state.questions)
    if (question.task === node.id && !state.asked.has(id)) state.questions.delete(id);
  move(state, node, outcome.kind);
  ownerEnded(state, node);
  closeInbox(state, node);
  state.open--;
  for (const dependent of node.dependents) {
    dependent.unmet--;
    if (dependent.unmet === 0 && dependent.state === 'waiting') push(state, dependent);
  }
  if (node.parent && --node.parent.open === 0) push(state, node.parent);
  callContinuous(state, node);
  for (const id of event.halts ?? []) {
    const halted = nodeOf(state, id);
    halted.halted = true;
    push(state, halted);
  }
}

/** As a person would cancel it: all work is kept, and it can be gone on with once there is more. */
function stopForBudget(state: State, short: BudgetMark): void {
  state.short ??= short;
  if (state.cancelling) return;
  state.because = 'budget';
  cancel(state, 'graceful');
}

function cancel(state: State, mode: 'graceful' | 'now'): void {
  if (state.cancelling === 'now') return;
  state.cancelling = mode;
  state.state = 'cancelling';
  closeRequests(state);
  closeAsked(state);
  for (const node of state.nodes.values()) {
    if (hasEnded(node) || node.state === 'expanded' || node.state === 'merging') continue;
    if (node.stopping === mode) continue;
    push(state, node);
  }
}
