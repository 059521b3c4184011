/** Whether a task costs the same in a large run as in a small one. */
import { runWorkflow, workflowOf } from './bosun.ts';
import { atMost, interleave, roundsOr, type Bench, type Figure } from './measure.ts';
import { repositoryOf } from './repository.ts';

const FEW = 100;
const MANY = 10_000;
const FILES = 100;
const ROUNDS = 3;
const RATIO_MAX = 1.2;

export const bench: Bench = {
  name: 'scale',
  about: `the cost of a task in a run of ${MANY} and in one of ${FEW} (several minutes)`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await repositoryOf(FILES);
    const perTaskMs = async (count: number): Promise<number> =>
      (await runWorkflow(repo, workflowOf('apart', count))).wallMs / count;
    await perTaskMs(10);
    const taken = await interleave('ms per task', roundsOr(ROUNDS), {
      many: () => perTaskMs(MANY),
      few: () => perTaskMs(FEW),
    });
    const name = `per task at ${MANY} tasks, against ${FEW}`;
    yield atMost(RATIO_MAX, { name, value: taken.many, baseline: taken.few });
  },
};
