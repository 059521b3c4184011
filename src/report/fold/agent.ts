/** What an agent told of itself in an attempt, and what was metered of it, for a report. */
import type { EventOf } from '../../contract/event.ts';
import { tokensInAll, type AgentError, type AgentEvent } from '../../contract/model.ts';
import type { AttemptReport } from '../../contract/report.ts';
import type { RuntimeName } from '../../contract/workflow.ts';
import { withUse } from '../cost.ts';
import type { Folded } from './tasks.ts';
import { clip, LIMITS } from '../limits.ts';

const MODELS_MAX = 20;
const DIFFERS_BY = 0.05;

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

export function noteUse(attempt: AttemptReport, event: EventOf<'model.used'>): void {
  attempt.cost = withUse(attempt.cost, event);
  const { models } = attempt;
  if (!models.includes(event.model) && models.length < MODELS_MAX)
    models.push(clip(event.model, LIMITS.lineChars));
}

/** Once all is counted: whether the runtime says something else. */
export function judgeClaim({ claim, cost }: AttemptReport): void {
  if (!claim || cost.tokens === null) return;
  const differ = (a: number, b: number): boolean => Math.abs(a - b) > DIFFERS_BY * Math.max(a, b);
  const usdDiffers = claim.usd !== null && cost.usd !== null && differ(claim.usd, cost.usd);
  claim.differs = usdDiffers || differ(claim.tokens, cost.tokens);
}

/** The runtime that an attempt is started with; null where no agent does it. */
export function runtimeOf(
  { definition, workflow }: Folded,
  { purpose, fallback }: EventOf<'attempt.started'>,
): RuntimeName | null {
  if (fallback) return fallback.runtime;
  const resolver = (definition['on-conflict'] ?? workflow['on-conflict']).replace(/^agent:/, '');
  const agent = purpose === 'resolve' ? resolver : definition.agent;
  return (typeof agent === 'string' ? workflow.agents[agent] : agent)?.runtime ?? null;
}

export function clipError({ kind, message, status }: AgentError): AgentError {
  return { kind, message: clip(message, LIMITS.messageChars), ...(status !== undefined && { status }) };
}
