/** What a run that has ended gives as exit code. */
import type { RunState, RunView } from '../../contract/run.ts';

const EXITS: Record<RunState, number> = { done: 0, failed: 1, cancelled: 3, running: 1, cancelling: 1 };

/** A run that ended since its budget is spent can be gone on with once there is more: scripts want to know. */
const EXIT_BUDGET = 4;

export function exitOf({ state, because }: Pick<RunView, 'state' | 'because'>): number {
  return because === 'budget' && state !== 'done' ? EXIT_BUDGET : EXITS[state];
}
