/** What stays of an attempt when it has ended, and of the decision that there will be another. It chooses nothing. */
import type { AgainReason, EventOf } from '../../contract/event.ts';
import { turnClocks } from '../money/budget.ts';
import { closeRequests } from './access.ts';
import { closeAsked } from './asked.ts';
import { hasStoppedClock } from './held.ts';
import { forgetServices } from './services.ts';
import { forgetWaits } from './waits.ts';
import { move, push, queue } from './moves.ts';
import { originOf } from '../workflow/publications.ts';
import type { Node, State, Story } from '../state.ts';

export function attemptEnded(
  state: State,
  node: Node,
  event: EventOf<'attempt.finished'>,
  atMs: number,
): void {
  state.running--;
  if (!hasStoppedClock(node)) turnClocks(state, node, -1, atMs);
  delete node.held;
  delete node.attemptAtMs;
  node.workedMs = (node.workedMs ?? 0) + event.durationMs;
  delete node.stopping;
  closeRequests(state, node);
  closeAsked(state, node);
  forgetWaits(state, node);
  forgetServices(state, node);
  node.lastOutcome = event.outcome;
  node.isCollected = event.collected !== undefined;
  const isWork = node.started?.purpose !== 'resolve';
  if (event.collected) {
    node.changedCount = event.collected.changedCount;
    // whoever settles a conflict does not undo what was left out before
    node.outsideCount = (isWork ? 0 : (node.outsideCount ?? 0)) + (event.collected.outside?.count ?? 0);
  }
  node.ended = event;
  if (event.feedback === undefined) delete node.feedback;
  else node.feedback = event.feedback;
  if (event.outcome.kind === 'lost' && event.outcome.because !== undefined) node.lost = (node.lost ?? 0) + 1;
  else delete node.lost;
  // what settles a conflict says is not what the task was to say
  if (isWork) keepOutput(node, event.outputRef ? event : { output: event.output ?? null });
  if (event.expansion) node.expansion = event.expansion;
  if (event.score === undefined) delete node.score;
  else node.score = event.score;
  if (event.outcome.kind === 'done')
    node.results = event.collected
      ? [event.collected.commit]
      : node.isReplanning
        ? node.started!.from
        : originOf(state, node).commits;
  push(state, node);
}

export function keepOutput(node: Node, { output, outputRef }: Pick<Node, 'output' | 'outputRef'>): void {
  if (output === undefined && outputRef === undefined) return;
  delete node.output;
  delete node.outputRef;
  if (outputRef) node.outputRef = outputRef;
  else if (output !== undefined) node.output = output;
}

/** What settles a conflict says is not what the task was to say. */
export function noteGiven(node: Node, { attempt, output, outputRef }: EventOf<'attempt.gave'>): void {
  if (node.state !== 'running' || attempt !== node.attempt || node.ended) return;
  if (node.started?.purpose === 'work') node.given = outputRef ? { outputRef } : { output: output ?? null };
}

/** Another attempt, as it was decided. */
export function again(state: State, node: Node, event: EventOf<'task.again'>, atMs: number): void {
  const { why, because, continues, feedback, session, fallback, delayMs } = event;
  node.next = {
    ...(continues !== undefined && { continues }),
    ...(feedback !== undefined && { feedback }),
    ...(session && { session }),
    ...(why === 'context' && { story: storyOf(node.ended!) }),
  };
  if (why === 'context') node.recaps = (node.recaps ?? 0) + 1;
  if (fallback) node.fallback = { ...fallback, because, count: (node.fallback?.count ?? 0) + 1 };
  if (why === 'replan') {
    node.isReplanning = true;
    node.replans = (node.replans ?? 0) + 1;
    delete node.expansion;
    delete node.merged;
  }
  if (FOR_NOTHING.has(why) && continues !== undefined) node.rounds--;
  if (why === 'feedback' && node.resolving) node.resolving.tries++;
  if (why === 'conflict') {
    const { marked, conflict } = node.conflicted!;
    node.resolving = { marked, conflict, tries: (node.resolving?.tries ?? 0) + 1 };
    delete node.conflicted;
  }
  delete node.ended;
  if (delayMs === undefined) queue(state, node, event.place);
  else delay(state, node, delayMs, atMs);
}

/** Attempts after these count for nothing. */
const FOR_NOTHING: ReadonlySet<AgainReason> = new Set(['lost', 'paused', 'context']);

function storyOf({ attempt, story, storyRef }: EventOf<'attempt.finished'>): Story {
  return { attempt, ...(storyRef ? { textRef: storyRef } : { text: story ?? '' }) };
}

export function delay(state: State, node: Node, delayMs: number, atMs: number): void {
  move(state, node, 'delayed');
  node.delayMs = delayMs;
  node.retryAtMs = atMs + delayMs;
}
