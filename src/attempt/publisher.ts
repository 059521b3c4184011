/** Takes an agent's files as they are while it works, for a publication. It decides nothing: what is published is recorded elsewhere. */
import type { Attempt, AttemptCrew, Stages } from './attempt.ts';
import { collectFiles } from './collect-files.ts';
import { publicationRef } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { CrewTools } from '../crew/tools.ts';
import type { Running } from '../system/process/process.ts';
import type { Workspace } from '../workspace/workspace.ts';

export class Publisher {
  readonly #stages: Stages;
  readonly #attempt: Attempt;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(stages: Stages, attempt: Attempt) {
    this.#stages = stages;
    this.#attempt = attempt;
  }

  async publish(
    crew: AttemptCrew,
    input: Parameters<CrewTools['publish']>[0],
    running: Running | undefined,
    workspace: Workspace | undefined,
  ): ReturnType<CrewTools['publish']> {
    if (running === undefined)
      throw new BosunError('wrong-state', 'only an agent at work can publish, not its check');
    const publishing = crew.publish(
      input,
      async (n) => workspace && publishFiles(this.#stages, this.#attempt, { running, workspace }, n),
    );
    this.#underWay.add(publishing);
    try {
      return await publishing;
    } finally {
      this.#underWay.delete(publishing);
    }
  }

  /** What is under way is in the journal, or will never be. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}

/**
 * The files of an agent that goes on working. Its processes are held still meanwhile: what it is writing would be half
 * there, and a directory that it replaces by a link while we read would show files of ours.
 */
async function publishFiles(
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
