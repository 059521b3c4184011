/** Keeps what a run starts from safe from `git gc`, and says why where that fails: the run does not depend on it. */
import { machineError } from '../base/machine-failure.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { holdObjects } from '../system/git/hold-objects.ts';

/** `whose`: such as "run fix-1". */
export async function holdBase(git: EngineGit, base: string, whose: string): Promise<string | undefined> {
  try {
    await holdObjects(git, base);
    return undefined;
  } catch (error) {
    const what = `what ${whose} started from could not be kept safe from git gc`;
    const failed = machineError(error, what);
    return `${failed?.message ?? `${what}: ${(error as Error).message}`}; until it is merged, keep commit ${base.slice(0, 8)} on a branch`;
  }
}
