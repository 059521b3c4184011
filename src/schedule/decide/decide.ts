/**
 * What a run does next. Pure: no clock, no chance, no I/O; the same state gives the same decision.
 * The loop records a decision, folds it into the state and asks again, until there is none.
 */
import { parseDurationMs } from '../../base/units.ts';
import type { Decision, EventOf } from '../../contract/event.ts';
import { isOpen, LEFT_OUT, type FailReason } from '../../contract/run.ts';
import type { Json } from '../../contract/workflow.ts';
import { decideAccess } from './access.ts';
import { decideAsked, nextReady } from './asked.ts';
import { decideCircle } from './circle.ts';
import { decideChild, endAwaiting, withChildren } from './children.ts';
import { decideContinuous } from './continuous.ts';
import { decideHandoff } from './handoff.ts';
import { decidePausing } from './pause.ts';
import { decideRace, giveUp, pickFirst } from './race.ts';
import { brokenIn, gaveUp, replan, tellBroken } from './replan.ts';
import { evaluate, evaluateCondition, ExpressionError, mentionsEach } from '../expression/expression.ts';
import { decideMail } from './messages.ts';
import { decideReady } from './ready.ts';
import { endCancelled, isBeingCancelled } from './cancelled.ts';
import { decideReopened } from './reopen.ts';
import { checkRoom } from './room.ts';
import { decideSummaries, summed, unsummed } from './summaries.ts';
import { itemGlobsProblem } from '../workflow/item-fields.ts';
import { lostBasis, missingInterface, originOf, originOnTop, tellMissing } from '../workflow/publications.ts';
import { decideMerge } from './publications.ts';
import { groupOutput } from '../workflow/outputs.ts';
import { renderInputs, renderText, renderWork, expressionScope } from '../workflow/prompt.ts';
import { decideWait, takenPlaces } from './waits.ts';
import { afterConflict, afterFailure } from './after-attempt.ts';
import { runsAnyway, withHalts } from './halt.ts';
import { producedFor } from '../workflow/produced-words.ts';
import { candidateNames, judgeFiles } from '../workflow/race.ts';
import { hasFailed, nodeOf, type Node, type State } from '../state.ts';

const ITEMS_MAX = 10_000;

export function decide(state: State): Decision | undefined {
  if (state.pending) return undefined; // nobody drives it yet
  if (state.goesOn) return decideReopened(state, state.goesOn);
  const request = state.asks.peek();
  if (request) return decideAccess(state, request);
  // Once nothing is left to be done, nobody waits for an answer any more.
  const ask = state.wants.peek() ?? (state.open === 0 ? state.asked.values().next().value : undefined);
  if (ask) return decideAsked(state, ask);
  const mail = decideMail(state);
  if (mail) return mail;
  const wait = state.isQuiet ? undefined : decideWait(state);
  if (wait) return wait;
  const child = state.spawns.peek();
  if (child) return decideChild(state, child);
  const isReady = decideReady(state);
  if (isReady) return isReady;
  const waiting = state.todo.peek();
  if (waiting) return orFail(state, waiting, () => decideNode(state, waiting));
  const hasPlace = takenPlaces(state) < state.workflow.concurrency && !state.paused;
  const ready = hasPlace ? nextReady(state) : undefined;
  if (ready) return orFail(state, ready, () => startAttempt(state, ready));
  if (state.open === 0 && isOpen(state)) return endRun(state);
  return state.isQuiet ? undefined : decideCircle(state);
}

function decideNode(state: State, node: Node): Decision {
  if (node.state === 'expanded') return decideGroup(state, node);
  if (node.merged) return complete(state, node);
  if (node.mergesAfter && !node.isUnwanted)
    return node.ended ? afterSuccess(state, node) : decideRace(state, node);
  if (node.ended?.outcome.kind === 'done' && node.state === 'running' && !node.isUnwanted)
    return afterSuccess(state, node);
  if (node.conflicted) return afterConflict(state, node);
  if (isBeingCancelled(state, node)) return cancelNode(state, node);
  const givenUp = giveUp(node);
  if (givenUp) return givenUp;
  if (node.ended) return node.sums ? unsummed(node, afterFailure) : afterFailure(node);
  if (node.state === 'running') return decidePausing(node);
  if (node.halted) {
    return skipped(node, 'stopped', LEFT_OUT);
  }
  if (node.awaits) return { type: 'task.summarizing', task: node.id, agent: node.task.summarize!, texts: [] };
  if (node.answer) return node.kind === 'race' ? decideRace(state, node) : afterAnswer(node);
  return admit(state, node);
}

/** The needs have ended: skip, ask, expand, or take it into the line for a slot. */
function admit(state: State, node: Node): Decision {
  const broken = node.needs.find(hasFailed);
  if (broken && !runsAnyway(node)) {
    const how =
      broken.state === 'skipped' ? 'was skipped' : broken.state === 'cancelled' ? 'was cancelled' : 'failed';
    return skipped(node, 'need', `it needs ${broken.id}, which ${how}`);
  }
  const missing = missingInterface(state, node);
  if (missing && !runsAnyway(node)) return skipped(node, 'need', tellMissing(state, missing));
  const condition = node.task.if;
  const isForEachItem = node.kind === 'for-each' && condition !== undefined && mentionsEach(condition);
  const holds =
    condition === undefined ||
    isForEachItem ||
    evaluateCondition(condition, expressionScope(state, node, condition));
  if (!holds) return skipped(node, 'condition', `its condition is false: ${condition}`);
  if (node.kind === 'for-each') return expandItems(state, node);
  if (node.kind === 'uses') {
    checkRoom(state, Object.keys(node.workflow.nested![node.task.uses!]!.tasks).length);
    return { type: 'task.expanded', task: node.id, kind: 'uses', inputs: renderInputs(state, node) };
  }
  if (node.kind === 'race') return expandRace(state, node);
  if (node.kind === 'handoff' || node.kind === 'continuous')
    return { type: 'task.expanded', task: node.id, kind: node.kind };
  if (node.kind === 'approve') return ask(state, node);
  return { type: 'task.admitted', task: node.id };
}

function expandItems(state: State, node: Node): Decision {
  const source = node.task['for-each']!;
  const items = typeof source === 'string' ? evaluate(source, expressionScope(state, node, source)) : source;
  if (!Array.isArray(items))
    throw new ExpressionError(`for-each needs a list, but ${JSON.stringify(source)} gives ${typeOf(items)}`);
  if (items.length > ITEMS_MAX) {
    throw new ExpressionError(`for-each has ${items.length} items; at most ${ITEMS_MAX} are allowed`);
  }
  const tooMany = itemGlobsProblem(node.task, items.length);
  if (tooMany !== undefined) throw new ExpressionError(tooMany);
  checkRoom(state, items.length);
  return { type: 'task.expanded', task: node.id, kind: 'for-each', items };
}

function expandRace(state: State, node: Node): Decision {
  const candidates = candidateNames(node.task.race!);
  checkRoom(state, candidates.length);
  return { type: 'task.expanded', task: node.id, kind: 'race', candidates };
}

function ask(state: State, node: Node): Decision {
  const approve = node.task.approve!;
  const { question, choices, timeout, ...rest } =
    typeof approve === 'string' ? { question: approve } : approve;
  const produced = producedFor(state, node);
  return {
    type: 'question.asked',
    id: node.id,
    task: node.id,
    text: renderText(state, node, question),
    default: rest.default ?? (choices ? null : 'no'),
    ...(produced.length > 0 && { produced }),
    ...(choices && { choices: choices.map((label) => ({ label })) }),
    ...(timeout !== undefined && { timeoutMs: parseDurationMs(timeout) }),
  };
}

function startAttempt(state: State, node: Node): Decision {
  if (node.scopeProblem !== undefined) throw new ExpressionError(node.scopeProblem);
  const missing = missingInterface(state, node);
  if (missing && !runsAnyway(node)) return skipped(node, 'need', tellMissing(state, missing));
  const attempt = node.attempt + 1;
  const { resolving, next } = node;
  const { commits, publications } = resolving
    ? { commits: [resolving.marked], publications: [] }
    : node.sums
      ? { commits: [state.base], publications: [] } // it sees no files
      : (node.onTop || node.isReplanning ? originOnTop : originOf)(state, node);
  const lost = lostBasis(state, publications);
  if (lost !== undefined) return skipped(node, 'need', lost);
  const { count: _, ...fallback } = node.fallback ?? { count: 0 };
  const { files: texts = [], tooLong, ...work } = renderWork(state, node);
  const summarizing = tooLong && decideSummaries(state, node, tooLong);
  if (summarizing) return summarizing;
  const files = [...(node.isJudge ? judgeFiles(node) : []), ...texts];
  const feedback = next?.feedback ?? tellBroken(state, node);
  return {
    type: 'attempt.started',
    task: node.id,
    attempt,
    purpose: resolving ? 'resolve' : 'work',
    from: commits,
    ...(publications.length > 0 && { publications }),
    ...work,
    ...((node.isJudge || files.length > 0) && { files }),
    ...(next?.continues !== undefined && { continues: next.continues }),
    ...(feedback !== undefined && { feedback }),
    ...(next?.session !== undefined && { session: next.session }),
    ...('runtime' in fallback && { fallback }),
  };
}

function afterSuccess(state: State, node: Node): Decision {
  // A candidate's work is merged by its race, once it is picked; a judge's never.
  if (node.candidate !== undefined) return pickFirst(node) ?? complete(state, node);
  if (node.isJudge) return complete(state, node);
  if (node.sums) return summed(state, node);
  return decideMerge(state, node) ?? complete(state, node);
}

function afterAnswer(node: Node): Decision {
  const { answer, by, note } = node.answer!;
  const { approve } = node.task;
  const isChoice = typeof approve === 'object' && approve.choices !== undefined;
  if (answer === null) return failed(node, 'rejected', 'nobody answered in time');
  if (isChoice || answer === 'yes') {
    const output: Json = {
      approved: true,
      ...(isChoice && { answer }),
      by,
      ...(note !== undefined && { note }),
    };
    return { type: 'task.finished', task: node.id, outcome: { kind: 'done' }, output };
  }
  return failed(node, 'rejected', `${by} said no${note === undefined ? '' : `: ${note}`}`);
}

function complete(state: State, node: Node): Decision {
  // A first plan is written down also while the run is cancelled: a resume goes on with its tasks.
  const isPlan = node.children.length === 0 || (node.isReplanning && !state.cancelling);
  if (node.expansion && isPlan) {
    if (node.isReplanning && Object.keys(node.expansion).length === 0) return gaveUp(node);
    checkRoom(state, Object.keys(node.expansion).length);
    return { type: 'task.expanded', task: node.id, kind: 'expand' };
  }
  // A plan that comes too late to be carried out puts nothing in the place of what failed.
  if (state.cancelling && node.isReplanning && brokenIn(node).length > 0) return endCancelled(node);
  const { outputRef, output = null } = node.picked ? nodeOf(state, node.picked.candidate) : node;
  return finishedDone(node, outputRef ? { outputRef } : { output });
}

function decideGroup(state: State, node: Node): Decision {
  if (node.awaiting) return endAwaiting(node);
  if (node.kind === 'handoff') return decideHandoff(state, node);
  if (node.kind === 'race') return decideRace(state, node);
  if (node.kind === 'continuous') return decideContinuous(state, node);
  return endGroup(state, node);
}

function endGroup(state: State, node: Node): Decision {
  const broken = brokenIn(node);
  const output = groupOutput(state, node);
  const given = output === undefined ? {} : { output };
  if (broken.length === 0) return finishedDone(node, given);
  if (isBeingCancelled(state, node)) return endCancelled(node);
  const again = replan(state, node, broken);
  if (again) return again;
  const first = broken.find((child) => child.state === 'failed') ?? broken[0]!;
  const message = `${broken.length} of ${node.children.length} tasks within did not succeed, first ${first.label}`;
  return { ...failed(node, 'tasks', message), ...given };
}

function cancelNode(state: State, node: Node): Decision {
  if (node.state === 'running' && !node.ended) {
    return {
      type: 'attempt.stopping',
      task: node.id,
      attempt: node.attempt,
      mode: state.cancelling ?? 'graceful',
    };
  }
  return endCancelled(node);
}

function endRun(state: State): Decision {
  const top = [...state.top.values()];
  const wasCancelled = state.cancelling && top.some((node) => node.state === 'cancelled');
  return {
    type: 'run.finished',
    state: wasCancelled ? 'cancelled' : top.some(hasFailed) ? 'failed' : 'done',
    ...(wasCancelled && state.because && { because: state.because }),
  };
}

function finishedDone(node: Node, given: Pick<EventOf<'task.finished'>, 'output' | 'outputRef'>): Decision {
  return { type: 'task.finished', task: node.id, outcome: { kind: 'done' }, ...given };
}

function failed(node: Node, reason: FailReason, message: string): EventOf<'task.finished'> {
  return { type: 'task.finished', task: node.id, outcome: { kind: 'failed', reason, message } };
}

function skipped(node: Node, because: 'condition' | 'need' | 'stopped', message: string): Decision {
  return { type: 'task.finished', task: node.id, outcome: { kind: 'skipped', because, message } };
}

/** An expression that fails at run time fails its task. Whatever fails a task may leave out others. */
function orFail(state: State, node: Node, decision: () => Decision): Decision {
  try {
    return withHalts(state, node, withChildren(state, node, decision()));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return withHalts(state, node, withChildren(state, node, failed(node, 'expression', error.message)));
  }
}

function typeOf(value: Json): string {
  return value === null ? 'null' : typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
