/** What a run cost, in words that are the same in a terminal and on the page. */
import { formatCount } from '../base/format-count.ts';
import type { AttemptReport, BudgetReport, Cost, RunReport, WaitReport } from '../contract/report.ts';
import { formatDuration } from '../base/units.ts';
import { describeAccount, describeUnit, describeUsd } from '../schedule/money/budget-words.ts';
import { forProvider, tellUsd } from './money.ts';
import { count } from './words.ts';

/** "$0.42, 120,400 tokens" */
export function describeCost(cost: Cost): string {
  if (cost.tokens === null) return 'no model was used';
  return `${shortCost(cost)}, ${count(cost.tokens, 'token')}`;
}

/** "$0.42", "over $0.42", "~$0.42 (estimated)" or "price unknown"; empty where no model was used. */
export function shortCost({ usdKnown: usd, unpriced, requests, estimated }: Cost): string {
  return requests === 0 ? '' : tellUsd({ usd, unpriced, requests, estimated }) || 'price unknown';
}

/** "3,100 in, 190 out, 93,000 from the cache, 4,000 into it" */
export function describeTokens({ tokensByKind: { input, output, cacheRead, cacheWrite } }: Cost): string {
  const shown = formatCount;
  return [
    `${shown(input)} in`,
    `${shown(output)} out`,
    ...(cacheRead > 0 ? [`${shown(cacheRead)} from the cache`] : []),
    ...(cacheWrite > 0 ? [`${shown(cacheWrite)} into the cache`] : []),
  ].join(', ');
}

/** Whatever a person should know about the figures, one sentence each. */
export function costNotes(report: RunReport): string[] {
  return [
    ...priceNotes(report.totals.cost),
    ...report.budgets.map((budget) => describeBudgetReport(budget, report.run)),
    ...waitNotes(report),
    ...report.tasks.flatMap(({ id, attempts }) =>
      attempts.filter(({ claim }) => claim?.differs).map((attempt) => `${id}: ${describeClaim(attempt)}`),
    ),
  ];
}

/** Which of the dollars are not certain, and which nobody paid. */
export function priceNotes(cost: Cost): string[] {
  return [
    ...(cost.unpriced > 0
      ? [
          `the price of ${count(cost.unpriced, 'request')} is not known, and not in the dollars: add the model to "prices" of the configuration`,
        ]
      : []),
    ...(cost.estimated > 0
      ? [
          `the cost of ${count(cost.estimated, 'request')} is estimated: the provider reported no usage, or more than is possible`,
        ]
      : []),
    ...(cost.replayed > 0
      ? [
          `${count(cost.replayed, 'request')} answered from a recording, at no cost: in dollars, what the recording cost`,
        ]
      : []),
    ...(cost.ownLogin > 0
      ? [
          `${count(cost.ownLogin, 'request')} metered, paid by the agent's own login: in dollars, what a key would have cost`,
        ]
      : []),
  ];
}

/** Which providers had to be waited for. */
export function waitNotes({ waits }: Pick<RunReport, 'waits'>): string[] {
  return waits.map(describeWait);
}

/** What was said about each budget, in their order; empty where that is nothing. */
export function budgetNotes({ budgets, run }: Pick<RunReport, 'budgets' | 'run'>): string[] {
  return budgets.map((budget) => budgetEvents(budget, run).join('; '));
}

/** Each other runtime that a task went on with, once. */
export function fallbackTexts(report: RunReport): { task: string; text: string }[] {
  return report.tasks.flatMap(({ id, attempts }) => {
    const texts = attempts.flatMap(({ fallback }) => (fallback ? [describeFallback(fallback)] : []));
    return [...new Set(texts)].map((text) => ({ task: id, text }));
  });
}

export function describeFallback(fallback: NonNullable<AttemptReport['fallback']>): string {
  return `went on with ${nameFallback(fallback)}: ${fallback.because}`;
}

/** "codex (gpt-5.1)" */
export function nameFallback({ runtime, model }: { runtime: string; model?: string }): string {
  return model === undefined ? runtime : `${runtime} (${model})`;
}

/** "codex says $0.20 and 90,000 tokens; metered: $0.42 and 120,400 tokens" */
export function describeClaim({ runtime, claim, cost }: AttemptReport): string {
  const says = claim!.usd === null ? '' : `${describeUsd(claim!.usd)} and `;
  const metered = claim!.usd === null ? '' : `${shortCost(cost)} and `;
  return `${runtime ?? 'the agent'} says ${says}${count(claim!.tokens, 'token')}; metered: ${metered}${count(cost.tokens ?? 0, 'token')}`;
}

/** "the run: $4.98 of $5.00; 80 % passed after 2m05s; raised to $10.00 by person after 3m" */
function describeBudgetReport(budget: BudgetReport, run: RunReport['run']): string {
  const { account, limits } = budget;
  const whose = describeAccount(account);
  const used = limits.map(({ unit, limit, spent }) => {
    const all = describeUnit(unit, limit);
    return unit === 'usd'
      ? `${describeUsd(spent)} of ${all}`
      : `${describeUnit(unit, spent).split(' ')[0]} of ${all}`;
  });
  return [`budget of ${whose}: ${used.join(', ')}`, ...budgetEvents(budget, run)].join('; ');
}

function budgetEvents(
  { account, warnings, raises }: BudgetReport,
  { startedAtMs, short }: RunReport['run'],
): string[] {
  const after = (atMs: number): string => ` after ${formatDuration(atMs - startedAtMs)}`;
  const told = [
    ...warnings.map(({ atMs, spent, limit }) => `${Math.round((spent / limit) * 100)} % used${after(atMs)}`),
    ...raises.map(
      ({ atMs, unit, limit, by }) => `set to ${describeUnit(unit, limit)} by ${by}${after(atMs)}`,
    ),
  ];
  if (account === short?.account && short.next !== undefined)
    told.push(`too small for a request that can cost up to ${describeUnit(short.unit, short.next)}`);
  return told;
}

function describeWait(wait: WaitReport): string {
  const often = wait.count > 1 ? `, ${wait.count} times` : '';
  return `waited ${formatDuration(wait.waitedMs)}${forProvider(wait)}${often}`;
}
