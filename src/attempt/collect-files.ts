/** Makes a commit of an attempt's files, at its end or while it works: one rule for what of them counts. */
import type { Attempt, Stages } from './attempt.ts';
import { collect } from '../collect/collect.ts';
import type { Collected } from '../contract/run.ts';
import { effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';
import type { Workspace } from '../workspace/workspace.ts';

export async function collectFiles(
  stages: Stages,
  attempt: Attempt,
  workspace: Workspace,
  { ref, message, signal }: { ref: string; message: string; signal?: AbortSignal | undefined },
): Promise<Omit<Collected, 'artifacts'>> {
  const { start, task } = attempt;
  return collect({
    git: stages.git,
    changes: await workspace.changes(signal),
    scope: {
      ...withGranted(effectiveScope(task, attempt.agent), attempt.granted),
      named: attempt.globsOfPeople,
    },
    parent: workspace.base.commit,
    published: attempt.published,
    // what the task brings to the branch, not what was done to the conflict
    ...(start.purpose === 'resolve' && { since: `${workspace.base.commit}^1` }),
    ref,
    message,
    atMs: attempt.nowMs(),
  });
}
