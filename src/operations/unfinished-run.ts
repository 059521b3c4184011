/** What a merge says of a run that did not do all of its tasks: nobody takes a part of the work for all of it. */
import { formatCount } from '../base/format-count.ts';
import type { RunView, TaskState } from '../contract/run.ts';
import { tellCounts } from '../report/text/figures.ts';

/** "run fix-3 was cancelled: 1 of 3 tasks is done (1 failed, 1 cancelled)"; undefined where nothing is missing. */
export function unfinishedWords({ id, state, counts }: RunView): string | undefined {
  if (state !== 'failed' && state !== 'cancelled') return undefined;
  const { done: _, ...others } = counts;
  const rest = tellCounts(others);
  if (rest === '') return undefined;
  return `run ${id} ${state === 'failed' ? 'failed' : 'was cancelled'}: only ${doneWords(counts)} (${rest})`;
}

/** Whoever resumes it gets all of it. */
export function interruptedProblem({ id, counts }: RunView): string {
  return `run ${id} was interrupted: ${doneWords(counts)}; continue with: bosun resume ${id}; or, to merge only what is done, cancel it first: bosun cancel ${id}`;
}

function doneWords(counts: Partial<Record<TaskState, number>>): string {
  const { done = 0 } = counts;
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  return `${formatCount(done)} of ${formatCount(all)} ${all === 1 ? 'task' : 'tasks'} ${done === 1 ? 'is' : 'are'} done`;
}
