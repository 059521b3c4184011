/** How many tasks a run may have, with all that tasks became: lists within lists, and planners that write planners, grow fast. */
import { ExpressionError } from '../expression/failure.ts';
import type { State } from '../state.ts';

export const RUN_TASKS_MAX = 100_000;

export function checkRoom(state: State, more: number): void {
  if (state.nodes.size + more <= RUN_TASKS_MAX) return;
  throw new ExpressionError(
    `it would add ${more} tasks to the ${state.nodes.size} of this run; at most ${RUN_TASKS_MAX} are allowed`,
  );
}
