/**
 * What the engine itself costs: 1,000 tasks that run `true`, each in a workspace of its own, against a bare loop
 * that makes the same kind of layer and starts the same command line with the same pipes by hand, at the same
 * concurrency. The loop records, collects and removes nothing.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { CONCURRENCY, runWorkflow, workflowOf } from './bosun.ts';
import { bounded, spawnMs } from './command.ts';
import { launchLine, PARENT } from './launch-line.ts';
import { atMost, interleave, roundsOr, timed, type Bench, type Figure } from './measure.ts';
import { git, repositoryOf } from './repository.ts';
import { scratch } from './scratch.ts';

const TASKS = 1000;
const FILES = 100;
const ROUNDS = 5;
const RATIO_MAX = 1.5;

export const bench: Bench = {
  name: 'tasks',
  about: `${TASKS} tasks in workspaces, against a bare loop that makes the same layers`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await repositoryOf(FILES);
    const base = path.join(scratch('base'), 'tree');
    await git(repo, 'worktree', 'add', '-q', '--detach', base);
    await runWorkflow(repo, workflowOf('apart', 10));
    const taken = await interleave(`${TASKS} tasks`, roundsOr(ROUNDS), {
      bosun: async () => (await runWorkflow(repo, workflowOf('apart', TASKS))).wallMs,
      loop: () => bareLoop(base),
    });
    yield atMost(RATIO_MAX, { name: `${TASKS} tasks`, value: taken.bosun, baseline: taken.loop });
  },
};

function bareLoop(lower: string): Promise<number> {
  const directory = scratch('layers');
  return timed(() =>
    bounded(TASKS, CONCURRENCY, async (index) => {
      const layer = path.join(directory, String(index));
      const [upper, work, at] = [path.join(layer, 'upper'), path.join(layer, 'work'), path.join(layer, 'at')];
      await mkdir(layer);
      await Promise.all([upper, work, at].map((each) => mkdir(each)));
      const line = launchLine(['sh', '-c', 'true'], { lower, upper, work, at });
      await spawnMs(
        line.map((part) => (part === PARENT ? String(process.pid) : part)),
        { pipes: true },
      );
    }),
  );
}
