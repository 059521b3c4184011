/** Makes a commit of an attempt's files, at its end or while it works: one rule for what of them counts. */
import type { Attempt, Stages } from './attempt.ts';
import { collect, collectPublished, type CollectRequest } from '../collect/collect.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { Collected } from '../contract/run.ts';
import { effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';
import type { Workspace } from '../workspace/workspace.ts';

export async function collectFiles(
  stages: Stages,
  attempt: Attempt,
  workspace: Workspace,
  kept: Kept,
): Promise<Omit<Collected, 'artifacts'>> {
  return collect(await requestOf(stages, attempt, workspace, kept));
}

/** `admit`: see `collectPublished`. */
export async function publishFiles(
  stages: Stages,
  attempt: Attempt,
  workspace: Workspace,
  kept: Kept,
  admit: (bytes: number) => void,
): Promise<PublishedFiles> {
  const request = await requestOf(stages, attempt, workspace, kept);
  return collectPublished({ ...request, signal: kept.signal }, admit);
}

interface Kept {
  ref: string;
  message: string;
  signal?: AbortSignal | undefined;
}

async function requestOf(
  stages: Stages,
  attempt: Attempt,
  workspace: Workspace,
  { ref, message, signal }: Kept,
): Promise<CollectRequest> {
  const { start, task } = attempt;
  return {
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
  };
}
