/**
 * What comes after an attempt that did not succeed, or whose changes do not merge: another one and how, a retry after
 * a while, or the end of the task. Pure, as all of decide. All limits and policies on that are here and in retry.ts.
 *
 *   lost ──▶ too often, the engine alive? ────▶ finished
 *        ──▶ else ────────────────────────────▶ again (counts for nothing)
 *   cancelled ──▶ for a pause? ───────────────▶ again (counts for nothing), else finished
 *   failed ──▶ did a hook not let it start? ──▶ finished
 *   failed ──▶ the conversation is too long? ─▶ again (context), in a new one
 *          ──▶ worth another runtime? ────────▶ again (fallback)
 *          ──▶ can be told what was wrong? ───▶ again (feedback)
 *          ──▶ `retry` allows another? ───────▶ delayed
 *          ──▶ else ──────────────────────────▶ finished
 *   conflict ──▶ an agent settles it? ────────▶ again (conflict), else finished
 */
import type { AgainReason, Decision, EventOf } from '../../contract/event.ts';
import type { AgentErrorKind } from '../../contract/model.ts';
import { fallbacksOf } from '../../contract/workflow-words.ts';
import { runtimeOf, sessionOf } from '../fold/session.ts';
import { agentOf, onConflict } from '../workflow/agent-of.ts';
import { delayBeforeRetryMs } from './retry.ts';
import type { Node, State } from '../state.ts';

/** How often in a row a task is begun again because a process of our own died, and the wait before the first time. */
const LOST_MAX = 3;
const LOST_DELAY_MS = 200;
/** How often agents may try to settle the conflicts of a task. */
const RESOLVE_TRIES_MAX = 3;
/** How often a task goes on in a new conversation because the last one had grown too long. */
const RECAPS_MAX = 3;
/** What another runtime may be able to do better; a crash only where nothing had begun. */
const WORTH_ANOTHER: ReadonlySet<AgentErrorKind> = new Set(['auth', 'rate-limit', 'overloaded', 'crashed']);

export function afterFailure(node: Node): Decision {
  const ended = node.ended!;
  const { outcome, attempt } = ended;
  if (outcome.kind === 'lost') return afterLost(node, ended, outcome.because);
  if (outcome.kind === 'cancelled' && node.pausing === 'stop') return afterPause(node, ended);
  if (outcome.kind === 'failed' && outcome.reason !== 'vetoed') {
    const next =
      withNewConversation(node, ended) ??
      withAnotherRuntime(node, ended) ??
      withFeedback(node, ended, outcome.message);
    if (next) return next;
    const delayMs = delayBeforeRetryMs(node.task.retry, node.failures + 1);
    if (delayMs !== undefined) {
      const { id: task } = node;
      const session = sessionOf(node, attempt, true);
      return { type: 'task.delayed', task, attempt, delayMs, because: outcome.message, ...session };
    }
  }
  return { type: 'task.finished', task: node.id, outcome };
}

export function afterConflict(state: State, node: Node): Decision {
  const { attempt, conflict } = node.conflicted!;
  const because = describeConflict(conflict);
  const tries = node.resolving?.tries ?? 0;
  if (
    onConflict(node).startsWith('agent:') &&
    tries < RESOLVE_TRIES_MAX &&
    !state.cancelling &&
    !node.isUnwanted
  )
    return { ...again(node, attempt, 'conflict', because), place: 'last' };
  const outcome = { kind: 'failed', reason: 'conflict', message: because } as const;
  return { type: 'task.finished', task: node.id, outcome };
}

/**
 * Something of ours died, not the attempt: it is done again, told what the lost one was told. Where that was not the
 * engine but a helper (`died` says which), this may go on without end.
 */
function afterLost(
  node: Node,
  { attempt, collected }: EventOf<'attempt.finished'>,
  died: string | undefined,
): Decision {
  const { lost = 0 } = node;
  if (died !== undefined && lost > LOST_MAX) {
    const message = `${died}, for the ${lost}th time in a row; bosun doctor checks this machine`;
    return { type: 'task.finished', task: node.id, outcome: { kind: 'failed', reason: 'start', message } };
  }
  return {
    ...again(node, attempt, 'lost', died ?? 'bosun stopped before it ended'),
    place: 'last',
    ...(died !== undefined && { delayMs: LOST_DELAY_MS * 2 ** (lost - 1) }),
    // An agent that remembers goes on where its engine left it, in the same workspace.
    ...whereItWas(node, attempt, collected ? sessionOf(node, attempt, false) : {}),
  };
}

/** It was stopped in the middle, for others to wait for: it goes on right there. */
function afterPause(node: Node, { attempt, collected }: EventOf<'attempt.finished'>): Decision {
  const { session } = node.started!;
  // One that had not begun goes on with what it was to go on with.
  const remembered = collected ? sessionOf(node, attempt, false) : { ...(session && { session }) };
  return {
    ...again(node, attempt, 'paused', 'it was stopped for a pause'),
    ...whereItWas(node, attempt, remembered),
  };
}

/** The workspace that an attempt worked in, and what it was told, for one that takes its place. */
function whereItWas(
  node: Node,
  attempt: number,
  remembered: ReturnType<typeof sessionOf>,
): Pick<EventOf<'task.again'>, 'continues' | 'feedback' | 'session'> {
  const { continues, feedback } = node.started!;
  const isGoingOn = remembered.session?.fork === false;
  const from = continues ?? (isGoingOn ? attempt : undefined);
  return {
    ...(from !== undefined && { continues: from }),
    ...(feedback !== undefined && { feedback }),
    ...remembered,
  };
}

/**
 * The same agent goes on in the same workspace, with a summary of what came before. One that was refused at its first
 * request would be refused again.
 */
function withNewConversation(
  node: Node,
  { attempt, error, collected, story, storyRef }: EventOf<'attempt.finished'>,
): Decision | undefined {
  const hasStory = story !== undefined || storyRef !== undefined;
  if (error?.kind !== 'context-full' || !hasStory || !node.hasUsedModel) return undefined;
  if ((node.recaps ?? 0) >= RECAPS_MAX) return undefined;
  const { feedback } = node.started!;
  return {
    ...again(node, attempt, 'context', 'its conversation grew too long for its model'),
    ...(collected && { continues: attempt }),
    ...(feedback !== undefined && { feedback }),
  };
}

/** The next runtime goes on from what the last one left. */
function withAnotherRuntime(
  node: Node,
  { attempt, error, collected }: EventOf<'attempt.finished'>,
): Decision | undefined {
  if (error === undefined || !WORTH_ANOTHER.has(error.kind)) return undefined;
  if (error.kind === 'crashed' && node.hasUsedModel) return undefined;
  const fallback = fallbacksOf(agentOf(node, node.started!.purpose)?.agent)[node.fallback?.count ?? 0];
  if (fallback === undefined) return undefined;
  const { continues, feedback } = node.started!;
  return {
    ...again(node, attempt, 'fallback', `${runtimeOf(node)} failed (${error.kind}): ${error.message}`),
    ...(collected && { continues: continues ?? attempt }),
    ...(feedback !== undefined && { feedback }),
    fallback,
  };
}

/** The same agent goes on in the same workspace. */
function withFeedback(
  node: Node,
  { attempt, feedback }: EventOf<'attempt.finished'>,
  because: string,
): Decision | undefined {
  const { resolving, rounds, task } = node;
  const hasTriesLeft = resolving ? resolving.tries < RESOLVE_TRIES_MAX : rounds < task.attempts;
  if (!feedback || !hasTriesLeft) return undefined;
  const session = sessionOf(node, attempt, false);
  return { ...again(node, attempt, 'feedback', because), continues: attempt, feedback, ...session };
}

/** It comes before tasks that have not begun, where nothing else is said. */
function again(node: Node, attempt: number, why: AgainReason, because: string): EventOf<'task.again'> {
  return { type: 'task.again', task: node.id, attempt, why, because, place: 'first' };
}

function describeConflict({ files, with: others }: NonNullable<Node['conflicted']>['conflict']): string {
  const names = files.slice(0, 5).join(', ') + (files.length > 5 ? ', …' : '');
  const whose = others.length > 0 ? ` with the work of ${others.join(', ')}` : '';
  return `its changes conflict${whose} in ${names}`;
}
