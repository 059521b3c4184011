/** One attempt of a report, from the events that begin and end it. */
import type { EventOf } from '../../contract/event.ts';
import type { AttemptReport } from '../../contract/report.ts';
import type { Outcome } from '../../contract/run.ts';
import type { RuntimeName } from '../../contract/workflow.ts';
import { noCost } from '../cost.ts';
import { clipError } from './agent.ts';
import { clip, LIMITS } from '../limits.ts';

export function newAttempt(
  event: EventOf<'attempt.started'>,
  runtime: RuntimeName | null,
  atMs: number,
): AttemptReport {
  const { fallback, session } = event;
  return {
    n: event.attempt,
    purpose: event.purpose,
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
    runtime,
    fallback: fallback ? { ...fallback, because: clip(fallback.because, LIMITS.messageChars) } : null,
    models: [],
    session: session?.id ?? null,
    turns: null,
    toolCalls: null,
    error: null,
    cost: noCost(),
    claim: null,
  };
}

export function endAttempt(attempt: AttemptReport, event: EventOf<'attempt.finished'>, atMs: number): void {
  const { outcome, collected } = event;
  attempt.endedAtMs = atMs;
  attempt.durationMs = event.durationMs;
  attempt.outcome = outcome.kind;
  attempt.exit = exitOf(outcome);
  attempt.feedback = event.feedback === undefined ? null : clip(event.feedback, LIMITS.messageChars);
  if (event.error) attempt.error = clipError(event.error);
  if (!collected) return;
  attempt.snapshot = collected.outside?.snapshot ?? collected.commit;
  attempt.changed = collected.changed.slice(0, LIMITS.changedFilesPerAttempt);
  attempt.changedCount = collected.changedCount;
  attempt.refused = collected.refused.slice(0, LIMITS.listEntries);
  const { files, count } = collected.outside ?? { files: [], count: 0 };
  attempt.outside = files.slice(0, LIMITS.listEntries).map(({ path, why }) => `${path}: ${why}`);
  attempt.outsideCount = count;
  attempt.artifacts = collected.artifacts.slice(0, LIMITS.listEntries);
}

function exitOf(outcome: Outcome): AttemptReport['exit'] {
  if (outcome.kind !== 'failed') return null;
  return {
    reason: outcome.reason,
    message: clip(outcome.message, LIMITS.messageChars),
    code: outcome.exitCode ?? null,
    signal: outcome.signal ?? null,
  };
}
