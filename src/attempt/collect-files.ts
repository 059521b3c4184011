/** Makes a commit of an attempt's files, at its end or while it works: one rule for what of them counts. */
import type { Attempt, Stages } from './attempt.ts';
import { collect, publicationRef } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { Collected } from '../contract/run.ts';
import { effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';
import type { Running } from '../system/process/process.ts';
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

/**
 * The files of an agent that goes on working. Its processes are held still meanwhile: what it is writing would be half
 * there, and a directory that it replaces by a link while we read would show files of ours.
 */
export async function publishFiles(
  stages: Stages,
  attempt: Attempt,
  { running, workspace }: { running: Running; workspace: Workspace },
  n: number,
): Promise<PublishedFiles> {
  const { run, start } = attempt;
  if (running.still === undefined)
    throw new BosunError(
      'not-supported',
      'nothing can be published on this machine: processes of a sandbox cannot be held still here',
    );
  const { commit, changedCount, outside } = await running.still(() =>
    collectFiles(stages, attempt, workspace, {
      ref: publicationRef(run, start.task, start.attempt, n),
      message: `${start.task}: publication ${n}\n`,
    }),
  );
  return { commit, changedCount, outsideCount: outside?.count ?? 0 };
}
