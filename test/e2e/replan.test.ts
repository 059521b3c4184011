import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** A planner that has one plan for each of its attempts. */
async function planned(plans: object[], more: string): Promise<TestRepository> {
  const files: Record<string, string> = { 'README.md': 'one\n' };
  for (const [n, plan] of plans.entries()) files[`plan-${n + 1}.json`] = JSON.stringify(plan);
  files['bosun.yaml'] = `
name: plan
agents: { planner: { runtime: cli, command: 'cp plan-$BOSUN_ATTEMPT.json $BOSUN_OUTPUT' } }
tasks:
  plan: { agent: planner, prompt: Plan it., expand: true, ${more} }
  after: { needs: [plan], run: 'cat one.txt two.txt > both.txt' }
`;
  return makeRepository({ files });
}

describe('a planner with replan', () => {
  it('is told what failed and what is done, and its further tasks take the place of what failed', async () => {
    await using repository = await planned(
      [
        {
          tasks: {
            one: { run: 'echo 1 > one.txt; echo "one is written"' },
            two: { needs: ['one'], run: 'exit 3' },
            three: { needs: ['two'], run: 'echo 3 > three.txt' },
          },
        },
        { tasks: { two: { run: 'cat one.txt > two.txt' } } },
      ],
      'replan: 1',
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    const again = of(events, 'task.again').filter(({ why }) => why === 'replan');
    expect(again).toMatchObject([{ because: 'plan/two failed: it ended with exit code 3' }]);
    for (const words of [
      '- two failed: it ended',
      '- three skipped: another task failed',
      '- one: one is written',
    ])
      expect(again[0]!.feedback).toContain(words);
    const ends = of(events, 'task.finished').map(({ task, outcome }) => `${task} ${outcome.kind}`);
    expect(ends).toEqual([
      'plan/one done',
      'plan/two failed',
      'plan/three skipped',
      'plan/two-2 done',
      'plan done',
      'after done',
    ]);
    expect((await bosun(repository.path, 'report')).stdout).not.toContain('bosun retry');
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:both.txt')).toBe('1\n1');
  });

  it('is asked no more often than it says, and fails where it has no other tasks', async () => {
    const bad = { tasks: { two: { run: 'exit 3' } } };
    await using repository = await planned([bad, bad, { tasks: {} }], 'replan: 2');
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code).toBe(1);
    const events = eventsIn(stdout);
    expect(of(events, 'task.again').map(({ why }) => why)).toEqual(['replan', 'replan']);
    const ended = of(events, 'task.finished').find(({ task }) => task === 'plan');
    expect(ended?.outcome).toMatchObject({
      message: 'the planner had no other tasks in place of plan/two-2',
    });

    await using once = await planned([bad, bad], 'replan: 1');
    const second = await bosun(once.path, 'run', '--json');
    expect(second.code).toBe(1);
    expect(of(eventsIn(second.stdout), 'attempt.started').map(({ task }) => task)).toEqual([
      'plan',
      'plan/two',
      'plan',
      'plan/two-2',
    ]);
    const report = (await bosun(once.path, 'report')).stdout;
    expect(report.match(/bosun retry \S+/g)).toEqual(['bosun retry plan/two-2']);
  });
});

describe('a plan that makes no sense', () => {
  it('goes back with the reason: tasks in a circle, and one file that two own', async () => {
    const run = 'echo 1 > one.txt; echo 2 > two.txt';
    await using repository = await planned(
      [
        {
          tasks: [
            { name: 'a', needs: ['b'], run },
            { name: 'b', needs: ['a'], run },
          ],
        },
        {
          tasks: [
            { name: 'a', run, scope: { write: ['*.txt'], shared: null } },
            { name: 'b', run, scope: { write: ['one.*'] } },
          ],
        },
        { tasks: [{ name: 'a', run, scope: { write: ['*.txt'] } }] },
      ],
      'attempts: 3',
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const told = of(eventsIn(stdout), 'attempt.started').flatMap(({ feedback }) => feedback ?? []);
    expect(told[0]).toContain('tasks need each other in a circle: a → b → a');
    expect(told[1]).toContain('tasks "a" and "b" can run at the same time and own the same file');
  });
});
