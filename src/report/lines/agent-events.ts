/** What agents say and do, and what their models cost, as words for the lines of a run. Pure. */
import type { BudgetMark, Event, EventOf } from '../../contract/event.ts';
import type { AgentEvent } from '../../contract/model.ts';
import { sayAnswer } from '../../contract/question.ts';
import { BUDGET_UNITS } from '../../contract/budget-units.ts';
import { nameFallback } from '../cost-words.ts';
import { saidBy } from '../words.ts';
import { tellWaiting } from '../money.ts';
import { agentLine } from '../../schedule/views/agent-line.ts';
import {
  describeAccount,
  describeBudget,
  describeOverrun,
  describeStop,
  describeUnit,
} from '../../schedule/money/budget-words.ts';
import type { Color } from '../text/paint.ts';

export interface AgentLine {
  text: string;
  color?: Color;
}

/** An error is told by the end of the attempt, and what was asked by its question. */
export function tellAgent(event: AgentEvent): AgentLine[] {
  if (event.kind === 'error' || event.kind === 'asked') return [];
  const line = agentLine(event);
  if (line === undefined) return [];
  if (event.kind === 'tool-result') return [{ text: line, color: 'bad' }];
  if (event.kind !== 'text') return [{ text: line, color: 'quiet' }];
  return line
    .trim()
    .split(/\r?\n/)
    .map((text) => ({ text: `│ ${text}` }));
}

type AgentNotice = Extract<
  Event,
  { type: 'model.waiting' | 'budget.warned' | 'budget.set' | 'task.steered' }
>;

/** What people are told of in any case. */
export function tellNotice(event: AgentNotice): AgentLine {
  if (event.type === 'model.waiting') return tellWait(event);
  if (event.type === 'budget.warned') return tellWarning(event);
  return event.type === 'budget.set' ? tellLimits(event) : tellSteer(event);
}

function tellWait(event: EventOf<'model.waiting'>): AgentLine {
  return { text: tellWaiting(event, event.delayMs), color: 'ask' };
}

function tellWarning(event: EventOf<'budget.warned'>): AgentLine {
  const percent = Math.floor((event.spent / event.limit) * 100);
  return { text: `${percent} % of the budget is used: ${describeBudget(event)}`, color: 'ask' };
}

function tellLimits({ account, limits, by }: EventOf<'budget.set'>): AgentLine {
  const all = BUDGET_UNITS.flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [describeUnit(unit, limit)];
  });
  return { text: `the budget of ${describeAccount(account)} is ${all.join(', ')} now (by ${by})` };
}

function tellSteer({ text, by }: EventOf<'task.steered'>): AgentLine {
  return { text: `${by} says: ${text}` };
}

/** What a person said was told with the question; here, what became of money, and what nobody was asked. */
export function tellAnswer(
  { answer, by, limit }: EventOf<'attempt.answered'>,
  asked: EventOf<'attempt.asked'> | undefined,
  wasPut: boolean,
): AgentLine | undefined {
  if (!asked || by === 'ended') return undefined;
  if (asked.budget && answer === 'yes') {
    const { account, unit } = asked.budget;
    if (limit !== undefined && by === 'policy')
      return { text: `WARNING: ${describeOverrun({ ...asked.budget, raisedTo: limit })}`, color: 'ask' };
    return limit === undefined
      ? { text: 'goes on: there is more to spend' }
      : tellLimits({ type: 'budget.set', account, limits: { [unit]: limit }, by });
  }
  if (asked.budget) return { text: `has to stop: ${describeBudget(asked.budget)}`, color: 'ask' };
  return wasPut
    ? undefined
    : { text: `asked: ${asked.text} ${sayAnswer({ answer })} (${saidBy(by)})`, color: 'ask' };
}

export function tellStart(event: EventOf<'attempt.started'>): AgentLine {
  const { attempt, purpose, session, fallback, recap } = event;
  if (fallback)
    return { text: `continues with ${nameFallback(fallback)}: ${fallback.because}`, color: 'ask' };
  if (purpose === 'resolve') return { text: `resolves the conflict (attempt ${attempt})` };
  const memory =
    session !== undefined
      ? ', remembers what it did'
      : recap !== undefined
        ? ', a new conversation with a summary of the last one'
        : '';
  return { text: `started (attempt ${attempt}${memory})` };
}

export function tellRunEnd(
  { state, because }: EventOf<'run.finished'>,
  cost: string,
  short: BudgetMark | undefined,
): AgentLine {
  const color = state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'ask';
  const words = state === 'cancelled' && because === 'budget' ? `stopped: ${describeStop(short)}` : state;
  return { text: cost === '' ? words : `${words}, ${cost}`, color };
}

/** The kind of what went wrong, where the message does not have it. */
export function tellError({ error, outcome }: EventOf<'attempt.finished'>): string {
  if (!error || outcome.kind !== 'failed') return '';
  const { message } = outcome;
  if (message.includes(error.message)) return message.includes(`(${error.kind})`) ? '' : ` (${error.kind})`;
  return ` (${error.kind}: ${error.message})`;
}
