/** The most that a request can cost, and how far a budget is raised for it. Pure. */
import type { BudgetMark } from '../../contract/event.ts';
import type { ModelUse, RequestEstimate } from '../../contract/model.ts';
import type { Budget } from '../../contract/workflow.ts';

/** A yes gives as much again as the workflow says. */
export function raised({ unit, spent, limit, next = 0 }: BudgetMark, written: Budget | undefined): number {
  const step = written?.[unit] ?? limit;
  return limit + step * Math.max(1, Math.ceil((spent + next - limit + Number.EPSILON) / step));
}

export function worstOf({ usd, tokensMax }: RequestEstimate): { usd: number; tokens: number } {
  return { usd: usd ?? 0, tokens: tokensMax };
}

/** What a hard cap cannot know it counts as the most that was possible: else hanging up early would stretch it. */
export function atWorst(use: ModelUse, estimate: RequestEstimate): ModelUse {
  const output = Math.max(use.tokens.output, estimate.tokens.output);
  const input = Math.max(use.tokens.input, estimate.tokensMax - estimate.tokens.output);
  const usd = use.usd === null ? null : Math.max(use.usd, estimate.usd ?? 0);
  return { ...use, usd, tokens: { ...use.tokens, input, output } };
}
