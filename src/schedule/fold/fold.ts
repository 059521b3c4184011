/**
 * State as a fold over events: `create` for the first event, `apply` for each further one. Everything that
 * changes a State is in this folder, and nothing here chooses: what may start, what comes after an attempt, which tasks
 * are open again, when a run stops are decisions, which are carried over as they stand in their events. What waits for a
 * decision is put into `todo` (or `goesOn`, `asks`, `wants`), what waits for a slot into `ready`.
 */
import type { Event, EventOf } from '../../contract/event.ts';
import { isAnswerTo } from '../../contract/question.ts';
import { turnClocks } from '../money/budget.ts';
import { skippedMs } from '../idle.ts';
import { changeAccess, ownerEnded, personSaid } from './access.ts';
import { answerGiven, askAnswered, attemptAsked, forgetAsked, questionAsked, setLimits } from './asked.ts';
import { again, attemptEnded, delay, keepOutput, noteGiven } from './attempts.ts';
import { noteSpending } from './budget.ts';
import { cancel, stopForBudget } from './cancel.ts';
import { noteHeld, noteWait } from './held.ts';
import { changeMail, closeInbox } from './messages.ts';
import { endIdle, noteIdle, pauseAgain, pauseRun, pauseTask, unpauseRun, unpauseTask } from './pause.ts';
import { changeWait, endCircle, forgetWaits } from './waits.ts';
import { noteSession } from './session.ts';
import { skip } from './skip.ts';
import { move, push, queue, unpush } from './moves.ts';
import { addChild, awaitChildren, cancelChildren, refuseChild, requestChild, unwant } from './children.ts';
import { callContinuous, endRest } from './continuous.ts';
import { publish, publisherEnded } from './publications.ts';
import { announceService, serviceGone } from './services.ts';
import { expanded } from './expand.ts';
import { addJudge, addRound, addTasks, addTurn } from './nodes.ts';
import { newState } from './new-state.ts';
import { reopen } from './reopen.ts';
import { summarizing, summaryEnded } from './summaries.ts';
import { originOf, unique } from '../workflow/publications.ts';
import { hasEnded, isGroup, nodeOf, taskPauseOf, type Node, type State } from '../state.ts';

export function create(event: EventOf<'run.created'>, atMs: number): State {
  const state = newState(event, atMs);
  const added = addTasks(state, event.workflow.tasks, event.workflow, event.inputs, undefined);
  for (const node of added) if (node.unmet === 0) push(state, node);
  return state;
}

export function apply(state: State, event: Event, atMs: number): void {
  const { lastAtMs, hasEngine } = state;
  const isQueued = state.pending !== undefined;
  skip(state, skippedMs(event, atMs, { lastAtMs, hadEngine: hasEngine, isQueued }));
  change(state, event, atMs);
  if (state.paused) noteIdle(state, event, atMs);
  state.isQuiet = QUIET.has(event.type);
  if (!OF_OTHERS.has(event.type)) state.lastAtMs = Math.max(state.lastAtMs, atMs);
  for (let head = state.ready.peek(); head && !isInLine(state, head); head = state.ready.peek())
    state.ready.shift();
}

/** One that is paused stands in line again once it may go on. */
function isInLine(state: State, node: Node): boolean {
  return node.state === 'ready' && taskPauseOf(state, node) === undefined;
}

/** There are many of them, and nobody waits for them. */
const QUIET: ReadonlySet<Event['type']> = new Set(['attempt.output', 'attempt.agent', 'model.used']);

/** What a person did with what a run left, and what is told of it later: no time of the run's. */
const OF_OTHERS: ReadonlySet<Event['type']> = new Set(['run.landed', 'run.unlanded', 'hook.told']);

function change(state: State, event: Event, atMs: number): void {
  switch (event.type) {
    case 'run.created':
      throw new Error('a run is created once');
    case 'run.isolation':
      forgetAsked(state); // whoever asked an earlier engine is gone
      forgetWaits(state); // and whoever was held
      state.hasEngine = true;
      delete state.pending;
      return;
    case 'wait.circled':
      return endCircle(state, event);
    case 'clock.jumped':
      return; // see skip
    case 'model.waiting':
      return noteWait(state, event, atMs);
    case 'budget.warned':
    case 'run.noted':
    case 'hook.failed':
    case 'hook.told':
      return; // for people; nothing is decided by it
    case 'hooks.armed':
      state.hasWebhooks = event.webhooks.length > 0;
      return;
    case 'run.landed': {
      const { type: _, ...landed } = event;
      state.landed = { ...landed, atMs };
      return;
    }
    case 'run.unlanded':
      delete state.landed;
      return;
    case 'budget.set':
      return setLimits(state, event.account, event.limits);
    case 'run.resumed':
    case 'task.retried':
      state.goesOn = event;
      return;
    case 'run.paused':
      return pauseRun(state, event.by, atMs);
    case 'run.unpaused':
      return unpauseRun(state, atMs);
    case 'run.reopened':
      unpauseRun(state, atMs);
      return reopen(state, event);
    case 'tasks.ready':
      for (const id of event.tasks) ready(state, nodeOf(state, id));
      return;
    case 'run.cancelling':
      endIdle(state, atMs);
      delete state.pending;
      return cancel(state, event.mode);
    case 'run.finished':
      endIdle(state, atMs);
      delete state.paused;
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

type NodeEvent = Exclude<
  Event,
  {
    type:
      | 'run.created'
      | 'run.isolation'
      | 'run.resumed'
      | 'run.cancelling'
      | 'run.paused'
      | 'run.unpaused'
      | 'run.finished'
      | 'run.landed'
      | 'run.unlanded'
      | 'run.reopened'
      | 'tasks.ready'
      | 'wait.circled'
      | 'task.retried'
      | 'clock.jumped'
      | 'run.noted'
      | 'hook.failed'
      | 'hooks.armed'
      | 'hook.told'
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
    case 'attempt.hooked':
      return;
    case 'task.steered':
      if (!hasEnded(node)) node.steers.push({ number: ++node.steered, text: event.text });
      return;
    case 'attempt.steered':
      node.steers = node.steers.filter(({ number }) => !event.steers.includes(number));
      return;
    case 'attempt.gave':
      return noteGiven(node, event);
    case 'attempt.held':
    case 'attempt.released':
      return noteHeld(state, node, event, atMs);
    case 'task.paused':
      return pauseTask(state, node, event.by, atMs);
    case 'task.unpaused':
      return unpauseTask(state, node, atMs);
    case 'attempt.agent':
      if (event.attempt !== node.attempt) return;
      if (event.event.kind === 'finished') node.isAgentDone = true;
      if (event.event.kind !== 'started') return;
      noteSession(node, event.event);
      return pauseAgain(state, node);
    case 'attempt.progress':
      if (event.attempt !== node.attempt) return;
      node.progress = { text: event.text, ...(event.percent !== undefined && { percent: event.percent }) };
      return;
    case 'model.used':
      noteSpending(state, node, event);
      if (event.attempt !== node.attempt) return;
      node.hasUsedModel = true;
      return pauseAgain(state, node);
    case 'attempt.asked':
      return attemptAsked(state, event);
    case 'attempt.answered':
      askAnswered(state, event, atMs);
      if (event.stops) stopForBudget(state, event.stops);
      return;
    case 'child.requested':
      return requestChild(state, node, event);
    case 'child.refused':
      return refuseChild(state);
    case 'child.added':
      return push(state, addChild(state, node, event));
    case 'child.cancelling':
      node.isDismissed = true;
      return unwant(state, node);
    case 'task.cancelling':
      return unwant(state, node);
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
    case 'wait.began':
    case 'wait.expired':
    case 'wait.left':
    case 'wait.ended':
      return changeWait(state, node, event);
    case 'publication.made':
      return publish(state, node, event);
    case 'service.announced':
      return announceService(state, node, event);
    case 'service.gone':
      return serviceGone(state, node, event);
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
      if (node.state !== 'merging' || node.mergesAfter || event.attempt !== node.attempt) return;
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
  if (state.deferred.delete(node)) delete node.mergesAfter;
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
      delete node.progress;
      delete node.isCollected;
      delete node.hasUsedModel;
      delete node.isAgentDone;
      delete node.waitsForSlot;
      delete node.pausing;
      if (event.continues === undefined) {
        node.restsOn = event.publications ?? [];
        delete node.workspace;
        delete node.workspaceBase;
        delete node.given;
      }
      return;
    case 'attempt.stopping':
      node.stopping = event.mode;
      return;
    case 'attempt.pausing':
      node.pausing = event.how;
      return;
    case 'task.again':
      cancelChildren(state, node, event);
      return again(state, node, event, atMs);
    case 'task.delayed':
      delay(state, node, event.delayMs, atMs);
      node.failures++;
      node.next = event.session ? { session: event.session } : {};
      delete node.ended;
      return cancelChildren(state, node, event);
    case 'task.awaiting':
      keepOutput(node, event);
      return awaitChildren(state, node, event);
    case 'task.merging':
      move(state, node, 'merging');
      return;
    case 'merge.deferred':
      move(state, node, 'merging');
      node.mergesAfter = event.until;
      state.deferred.add(node);
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
    case 'task.summarizing':
      return summarizing(state, node, event);
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
  node.restsOn = won.restsOn;
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

function finished(state: State, node: Node, event: EventOf<'task.finished'>, atMs: number): void {
  if (node.state === 'running' && !node.ended)
    throw new Error(`${node.id} has an attempt that has not ended`);
  const { outcome } = event;
  if (outcome.kind === 'lost') throw new Error('a task is never lost');
  if (outcome.kind !== 'done') node.results = [];
  if (node.children.length > 0 && node.kind !== 'race') {
    const own = isGroup(node) ? { results: [], restsOn: [] } : node;
    node.results = [...new Set([...own.results, ...node.children.flatMap((child) => child.results)])];
    node.restsOn = unique([...own.restsOn, ...node.children.flatMap((child) => child.restsOn)]);
  }
  if (node.results.length === 0) {
    const { commits, publications } = originOf(state, node);
    node.results = commits;
    node.restsOn = publications;
  }
  node.outcome = outcome;
  node.endedAtMs = atMs;
  keepOutput(node, event);
  delete node.ended;
  delete node.resting;
  delete node.paused;
  node.steers = [];
  state.pausedTasks.delete(node);
  // One that was cut short while it waited for its children goes on waiting.
  if (outcome.kind !== 'cancelled') delete node.awaiting;
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
  publisherEnded(state, node); // counts anew, so it comes after
  const { parent } = node;
  summaryEnded(state, node);
  if (parent && !node.sums && --parent.open === 0 && parent.state === 'expanded') push(state, parent);
  if (!node.sums) callContinuous(state, node);
  for (const id of event.halts ?? []) {
    const halted = nodeOf(state, id);
    halted.halted = true;
    push(state, halted);
  }
}
