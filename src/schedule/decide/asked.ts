/** What becomes of a question that an attempt asks: a person is asked, or there is an answer already. Pure. */
import type { BudgetMark, Decision } from '../../contract/event.ts';
import { asksModels } from '../../contract/runtimes.ts';
import { formOf, noAnswer, type Answer } from '../../contract/question.ts';
import { isShared, isWholeRun, limitsOf } from '../money/budget.ts';
import { runtimeOf } from '../fold/session.ts';
import { taskPauseOf, type Node, type OpenAsk, type State } from '../state.ts';

export function decideAsked(state: State, ask: OpenAsk): Decision {
  const { id, task, attempt, text, default: fallback, timeoutMs, budget, tool } = ask;
  const answer = (
    { answer: said, chosen, note }: Answer & { note?: string },
    by: string,
    limit?: number,
  ): Decision => ({
    type: 'attempt.answered',
    task,
    attempt,
    id,
    answer: said,
    ...(chosen && { chosen }),
    by,
    ...(note !== undefined && { note }),
    ...(limit !== undefined && { limit }),
    ...(said === 'no' && by !== 'ended' && budget && stopsFor(budget)),
  });
  const node = state.nodes.get(task)!;
  if (state.cancelling || state.open === 0) return answer(noAnswer(ask), 'ended');
  if (!budget && (node.state !== 'running' || node.ended || node.attempt !== attempt))
    return answer(noAnswer(ask), 'ended');
  if (budget) {
    const limit = limitsOf(state, budget.account, undefined)[budget.unit];
    const isEnough =
      limit !== undefined && limit > budget.spent && limit >= budget.spent + (budget.next ?? 0);
    if (isEnough) return answer({ answer: 'yes' }, 'budget');
    if (budget.isHard) return answer({ answer: 'no' }, 'policy');
    // What all runs may spend in a day is for their user alone to raise.
    if (state.overBudget === 'warn' && !isShared(budget.account))
      return answer({ answer: 'yes' }, 'policy', budget.raiseTo);
  }
  if (ask.said) {
    const isYes = ask.said.answer === 'yes';
    return answer(ask.said, ask.said.by, isYes ? budget?.raiseTo : undefined);
  }
  return {
    type: 'question.asked',
    id,
    task,
    text,
    default: fallback,
    ...formOf(ask),
    ...(tool && { tool }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** Where nobody pays for the whole run any more it stops, all work kept. A part of it only fails. */
function stopsFor({ account, unit, spent, limit, next }: BudgetMark): { stops?: BudgetMark } {
  if (!isWholeRun(account)) return {};
  return { stops: { account, unit, spent, limit, ...(next !== undefined && { next }) } };
}

/** What may start next: while the whole run waits for money, only what costs none. */
export function nextReady(state: State): Node | undefined {
  const held = [...state.asked.values()].flatMap(({ budget }) =>
    budget !== undefined && isWholeRun(budget.account) ? [budget.unit] : [],
  );
  if (held.length === 0) return state.ready.peek();
  if (held.includes('minutes')) return undefined; // a command takes time, too
  for (const node of state.ready) {
    const runtime = runtimeOf(node, node.resolving ? 'resolve' : 'work');
    if (node.state === 'ready' && !taskPauseOf(state, node) && !asksModels(runtime)) return node;
  }
  return undefined;
}
