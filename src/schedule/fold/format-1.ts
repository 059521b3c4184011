/**
 * Reads events of format 1, of journals until November 2026, in which the fold itself chose what came after an attempt.
 * Here are the rules of that time: each such event is followed by the decision that they implied, and format-2.ts reads
 * both. Never changed: what `decide` does today has no part in what was decided then.
 */
import type { Event, EventOf } from '../../contract/event.ts';
import { fallbacksOf } from '../../contract/workflow-words.ts';
import { agentOf, onConflict } from '../workflow/agent-of.ts';
import { hasEnded, isTolerated, nodeOf, type Node, type State } from '../state.ts';
import { runtimeOf, sessionOf } from './session.ts';

/** Decisions with what they did not yet say. */
export function completed(state: State, event: Event): Event {
  if (event.type === 'task.delayed') {
    const node = nodeOf(state, event.task);
    const { lastOutcome } = node;
    const because = lastOutcome?.kind === 'failed' ? lastOutcome.message : '';
    return { ...event, because, ...sessionOf(node, event.attempt, true) };
  }
  if (event.type !== 'task.finished' || event.outcome.kind !== 'failed') return event;
  const node = nodeOf(state, event.task);
  const stops = (node.task['on-failure'] ?? node.workflow['on-failure']) === 'stop';
  return isTolerated(node) || !stops ? event : { ...event, halts: haltedBy(state, node) };
}

/** The decision that follows from a fact, where there is one that no event told of. */
export function implied(state: State, event: Event): EventOf<'task.again'> | undefined {
  if (state.cancelling) return undefined;
  if (event.type === 'attempt.finished') {
    const node = nodeOf(state, event.task);
    if (node.ended !== event) return undefined; // not the attempt that ran
    if (event.outcome.kind === 'lost') return afterLost(node, event);
    if (event.outcome.kind === 'failed') return afterFailure(node, event, event.outcome.message);
  }
  if (event.type === 'task.conflicted') {
    const node = nodeOf(state, event.task);
    const isSettled = onConflict(node).startsWith('agent:') && (node.resolving?.tries ?? 0) < 3;
    if (node.conflicted === event && isSettled) return { ...again(event, 'conflict', ''), place: 'last' };
  }
  return undefined;
}

function afterLost(node: Node, event: EventOf<'attempt.finished'>): EventOf<'task.again'> {
  const { attempt, collected } = event;
  const { continues, feedback } = node.started!;
  const { session } = collected ? sessionOf(node, attempt, false) : {};
  return {
    ...again(event, 'lost', ''),
    place: 'last',
    ...(continues && { continues }),
    ...(feedback && { feedback }),
    ...(session && { continues: continues ?? attempt, session }),
  };
}

function afterFailure(
  node: Node,
  event: EventOf<'attempt.finished'>,
  message: string,
): EventOf<'task.again'> | undefined {
  const { attempt, error, collected, feedback } = event;
  const isWorthAnother =
    error !== undefined &&
    (['auth', 'rate-limit', 'overloaded'].includes(error.kind) ||
      (error.kind === 'crashed' && !node.hasUsedModel));
  const fallback =
    isWorthAnother && fallbacksOf(agentOf(node, node.started!.purpose)?.agent)[node.fallback?.count ?? 0];
  if (fallback) {
    const { continues, feedback: told } = node.started!;
    return {
      ...again(event, 'fallback', `${runtimeOf(node)} failed (${error.kind}): ${error.message}`),
      ...(collected && { continues: continues ?? attempt }),
      ...(told !== undefined && { feedback: told }),
      fallback,
    };
  }
  const hasTriesLeft = node.resolving ? node.resolving.tries < 3 : node.rounds < node.task.attempts;
  if (!feedback || !hasTriesLeft) return undefined;
  const session = sessionOf(node, attempt, false);
  return { ...again(event, 'feedback', message), continues: attempt, feedback, ...session };
}

function again(
  { task, attempt }: { task: string; attempt: number },
  why: EventOf<'task.again'>['why'],
  because: string,
): EventOf<'task.again'> {
  return { type: 'task.again', task, attempt, why, because, place: 'first' };
}

function haltedBy(state: State, failed: Node): string[] {
  const halts: string[] = [];
  const visit = (node: Node): void => {
    if (node === failed || hasEnded(node)) return;
    if (node.state === 'expanded') return node.children.forEach(visit);
    const runsAnyway = node.task.if !== undefined && /\b(always|failed)\s*\(/.test(node.task.if);
    if (node.state !== 'running' && node.state !== 'merging' && !runsAnyway) halts.push(node.id);
  };
  for (const sibling of failed.parent ? failed.parent.children : state.top.values()) visit(sibling);
  return halts;
}
