/** The record of one attempt: what its events said of it, cut to what a report has room for. Judges nothing. */
import type { EventOf } from '../../contract/event.ts';
import { tokensInAll, type AgentError, type AgentEvent } from '../../contract/model.ts';
import type { AttemptReport } from '../../contract/report.ts';
import type { Outcome } from '../../contract/run.ts';
import { noCost, withUse } from '../money/cost.ts';
import type { Node } from '../state.ts';
import { agentOf } from '../workflow/agent-of.ts';
import { HISTORY_LIMITS } from './limits.ts';
import { cutAndCount } from '../../base/cut-text.ts';

const MODELS_MAX = 20;

export function newAttempt(node: Node, event: EventOf<'attempt.started'>, atMs: number): AttemptReport {
  const { fallback, session, purpose } = event;
  return {
    n: event.attempt,
    purpose,
    startedAtMs: atMs,
    endedAtMs: null,
    durationMs: null,
    outcome: null,
    exit: null,
    workspace: null,
    snapshot: null,
    changed: [],
    changedCount: 0,
    refused: [],
    outside: [],
    outsideCount: 0,
    artifacts: [],
    feedback: null,
    ...(event.recap !== undefined && { recap: cutAndCount(event.recap, HISTORY_LIMITS.messageChars) }),
    runtime: fallback?.runtime ?? agentOf(node, purpose)?.agent.runtime ?? null,
    fallback: fallback
      ? { ...fallback, because: cutAndCount(fallback.because, HISTORY_LIMITS.messageChars) }
      : null,
    models: [],
    session: session?.id ?? null,
    turns: null,
    toolCalls: null,
    error: null,
    cost: noCost(),
    claim: null,
    progress: null,
  };
}

export function endAttempt(attempt: AttemptReport, event: EventOf<'attempt.finished'>, atMs: number): void {
  const { outcome, collected } = event;
  attempt.endedAtMs = atMs;
  attempt.durationMs = event.durationMs;
  attempt.outcome = outcome.kind;
  attempt.exit = exitOf(outcome);
  attempt.feedback =
    event.feedback === undefined ? null : cutAndCount(event.feedback, HISTORY_LIMITS.messageChars);
  if (event.error) attempt.error = clipError(event.error);
  if (!collected) return;
  attempt.snapshot = collected.outside?.snapshot ?? collected.commit;
  attempt.changed = collected.changed.slice(0, HISTORY_LIMITS.changedFilesPerAttempt);
  attempt.changedCount = collected.changedCount;
  attempt.refused = collected.refused.slice(0, HISTORY_LIMITS.listEntries);
  const { files, count } = collected.outside ?? { files: [], count: 0 };
  attempt.outside = files.slice(0, HISTORY_LIMITS.listEntries).map(({ path, why }) => `${path}: ${why}`);
  attempt.outsideCount = count;
  attempt.artifacts = collected.artifacts.slice(0, HISTORY_LIMITS.listEntries);
}

/** What the agent says of itself. */
export function noteAgent(attempt: AttemptReport, event: AgentEvent): void {
  if (event.kind === 'started') attempt.session = event.session ?? attempt.session;
  else if (event.kind === 'usage') {
    attempt.claim = { usd: event.usd ?? null, tokens: tokensInAll(event.tokens), differs: false };
  } else if (event.kind === 'error') attempt.error = clipError(event.error);
  else if (event.kind === 'finished') {
    attempt.turns = event.turns;
    attempt.toolCalls = event.toolCalls;
  }
}

/** The last one counts. */
export function noteProgress(attempt: AttemptReport, { text, percent }: EventOf<'attempt.progress'>): void {
  attempt.progress = { text: cutAndCount(text, HISTORY_LIMITS.lineChars), percent: percent ?? null };
}

/** What was metered of it. */
export function noteUse(attempt: AttemptReport, event: EventOf<'model.used'>): void {
  attempt.cost = withUse(attempt.cost, event);
  const { models } = attempt;
  if (!models.includes(event.model) && models.length < MODELS_MAX)
    models.push(cutAndCount(event.model, HISTORY_LIMITS.lineChars));
}

function exitOf(outcome: Outcome): AttemptReport['exit'] {
  if (outcome.kind !== 'failed') return null;
  return {
    reason: outcome.reason,
    message: cutAndCount(outcome.message, HISTORY_LIMITS.messageChars),
    code: outcome.exitCode ?? null,
    signal: outcome.signal ?? null,
  };
}

function clipError({ kind, message, status }: AgentError): AgentError {
  return {
    kind,
    message: cutAndCount(message, HISTORY_LIMITS.messageChars),
    ...(status !== undefined && { status }),
  };
}
