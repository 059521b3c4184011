/** Takes an agent's files as they are while it works, for a publication. It decides nothing: what is published is recorded elsewhere. */
import type { Attempt, AttemptCrew, Stages } from './attempt.ts';
import { publishFiles } from './collect-files.ts';
import { parseSizeBytes } from '../base/units.ts';
import { publicationRef } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { CrewTools } from '../crew/tools.ts';
import { effectiveLimits } from '../schedule/workflow/scope-of.ts';
import type { Running } from '../system/process/process.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Of one attempt in all, and no more than `limits.disk`. */
const PUBLISHED_BYTES_MAX = 4 * 1024 ** 3;

export class Publisher {
  readonly #stages: Stages;
  readonly #attempt: Attempt;
  readonly #underWay = new Set<Promise<unknown>>();
  #bytes = 0;

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
    const publishing = crew.publish(input, async (n) => workspace && this.#take({ running, workspace }, n));
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

  /**
   * The files of an agent that goes on working. Its processes are held still meanwhile: what it is writing would be half
   * there, and a directory that it replaces by a link while we read would show files of ours.
   */
  async #take({ running, workspace }: At, n: number): Promise<PublishedFiles> {
    const { run, start, stop } = this.#attempt;
    if (running.still === undefined)
      throw new BosunError(
        'not-supported',
        'nothing can be published on this machine: processes of a sandbox cannot be held still here',
      );
    const taking = running.still((tooLong) =>
      publishFiles(
        this.#stages,
        this.#attempt,
        workspace,
        {
          ref: publicationRef(run, start.task, start.attempt, n),
          message: `${start.task}: publication ${n}\n`,
          signal: AbortSignal.any([tooLong, stop.graceful]),
        },
        (bytes) => this.#admit(bytes),
      ),
    );
    return taking.catch((error: unknown) => {
      if (error !== stop.graceful.reason) throw error;
      throw new BosunError('wrong-state', 'nothing was published: the attempt is being stopped');
    });
  }

  /** All of it stays until the run is taken out, also what nobody starts from. */
  #admit(bytes: number): void {
    const { task, agent } = this.#attempt;
    const { disk } = effectiveLimits(task, agent);
    const most = Math.min(disk === undefined ? Infinity : parseSizeBytes(disk), PUBLISHED_BYTES_MAX);
    if (this.#bytes + bytes > most)
      throw new BosunError(
        'usage',
        `nothing was published: these files have ${bytes} bytes, those published before ${this.#bytes}, and ${most} are all that one attempt may publish${disk === undefined ? '' : ' (limits.disk)'}; change fewer or smaller files`,
      );
    this.#bytes += bytes;
  }
}

interface At {
  running: Running;
  workspace: Workspace;
}
