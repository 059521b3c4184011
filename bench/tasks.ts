/**
 * What the engine itself costs, with fences on as they are by default: 1,000 tasks that run `true`, each in a
 * workspace and behind a fence of its own, against a bare loop that makes the same kind of layer and starts the same
 * command line with the same pipes by hand, at the same concurrency: the native launcher where it was built, and
 * bubblewrap with the very same mounts, system calls and limits. The loop records, collects, watches and removes
 * nothing.
 */
import path from 'node:path';
import { CONCURRENCY, runWorkflow, workflowOf } from './bosun.ts';
import { bounded } from './command.ts';
import { launchOf, placed, type FencedLaunch } from './fenced.ts';
import { launchLine, lineMs } from './launch-line.ts';
import { atMost, interleave, roundsOr, timed, type Bench, type Figure } from './measure.ts';
import { repositoryOf } from './repository.ts';
import { scratch } from './scratch.ts';

const TASKS = 1000;
const FILES = 100;
const ROUNDS = 5;
const RATIO_MAX = 1.5;

export const bench: Bench = {
  name: 'tasks',
  about: `${TASKS} fenced tasks in workspaces, against a bare loop over the same bwrap commands`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await repositoryOf(FILES);
    const { launch } = await launchOf(repo, workflowOf('apart', 1));
    await runWorkflow(repo, workflowOf('apart', 10));
    const taken = await interleave(`${TASKS} tasks`, roundsOr(ROUNDS), {
      bosun: async () => (await runWorkflow(repo, workflowOf('apart', TASKS))).wallMs,
      loop: () => bareLoop(launch),
    });
    yield atMost(RATIO_MAX, { name: `${TASKS} tasks, fences on`, value: taken.bosun, baseline: taken.loop });
  },
};

function bareLoop(launch: FencedLaunch): Promise<number> {
  const directory = scratch('layers');
  return timed(() =>
    bounded(TASKS, CONCURRENCY, (index) =>
      lineMs(launchLine(placed(launch, path.join(directory, String(index))))),
    ),
  );
}
