/**
 * Checks the tasks that a planner wrote, apart from the engine: a plan may name thousands of globs, needs and
 * expressions, and nobody waits while they are compared.
 */
import { inThread, ThreadFailure } from '../../base/in-thread.ts';
import { checkExpansion } from './expansion.ts';

const CHECK_MS_MAX = 10_000;

type Question = Parameters<typeof checkExpansion>;
type Expansion = ReturnType<typeof checkExpansion>;

const ask = inThread(import.meta.url, { msMax: CHECK_MS_MAX }, (question: Question) =>
  checkExpansion(...question),
);

/** What `checkExpansion` says; a plan that takes too long to check is refused. */
export async function checkExpansionApart(...question: Question): Promise<Expansion> {
  try {
    return await ask(question);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return { problem: `the plan cannot be checked: ${error.message}; write fewer tasks, needs and globs` };
  }
}
