/** What a model is told of a run beyond its figures: what went past its budget, and what to do next. Pure. */
import { isOpen } from '../../contract/run.ts';
import type { Budgets, ShownRun } from '../../contract/outputs.ts';
import { describeOverrun, sentence } from '../../schedule/money/budget-words.ts';
import { needLines } from '../../report/text/asked-lines.ts';

type Overruns = Budgets['overruns'];

export function budgetWarnings(overruns: Overruns = []): string[] {
  return overruns.map((mark) => sentence(describeOverrun(mark)));
}

export function nextSteps(run: ShownRun, nowMs: number): string[] {
  const { id, state } = run;
  if (isOpen(run)) {
    const needs = needLines(run, nowMs);
    const how =
      'this needs the person: call engine_answer with the question, or let the person type what is shown; do not decide it yourself';
    return needs.length > 0 ? [...needs, how] : [`call engine_status with run ${id} and waitSeconds 60`];
  }
  if (state === 'interrupted')
    return [`its bosun process is gone; to continue: engine_interrupt with action resume and run ${id}`];
  const look = `see what it changed with engine_diff (run ${id})`;
  if (state === 'done') return [look, `if the person wants it on their branch: engine_merge (run ${id})`];
  const why =
    run.because === 'budget' ? [`a person can raise its budget: bosun budget ${id} --usd <amount>`] : [];
  return [...why, look, `to continue: engine_interrupt with action resume and run ${id}`];
}
