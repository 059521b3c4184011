/** Which runs a branch of the user's has, whoever merged them. */
import { isOpen, type RunView, type ShownRunState } from '../contract/run.ts';

import { isOnBranch } from '../system/git/on-branch.ts';

type EndedRun = Omit<RunView, 'state'> & { state: ShownRunState };

/** Each takes a process of git. */
const LOOKED_UP_MAX = 20;

/** The runs whose work a branch, a remote branch or a tag of the user's has; of older ones, what was merged with bosun. */
export async function mergedOf(top: string, runs: readonly EndedRun[]): Promise<Set<string>> {
  const ended = runs.filter((run) => !isOpen(run) && run.headCommit !== run.baseCommit);
  const found = await Promise.all(
    ended.map(async ({ id, headCommit, landed }, n) => {
      const isLanded = landed?.head === headCommit;
      if (n >= LOOKED_UP_MAX) return isLanded ? [id] : [];
      const commit = isLanded ? landed.to : headCommit;
      return (await isOnBranch(top, commit)) ? [id] : [];
    }),
  );
  return new Set(found.flat());
}
