/** A conflict that an agent settled leaves the task's own story whole. */
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { diffOf } from '../src/operations/changes.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const KEEP_BOTH = `cat > /dev/null; grep -v '^[<=>]\\{7\\}' README.md > r; cat r > README.md; rm r; echo settled`;

async function clash(repository: TestRepository, check: string): Promise<{ bosun: Bosun; state: string }> {
  const bosun = new Bosun(repository.path);
  const run = await bosun.run(
    workflow({
      name: 'clash',
      concurrency: 1,
      'on-conflict': 'agent:peacemaker',
      agents: { peacemaker: { runtime: 'cli', command: KEEP_BOTH } },
      tasks: {
        first: { run: 'sed -i s/two/FIRST/ README.md' },
        second: {
          run: 'sed -i s/two/SECOND/ README.md; echo 2 > second.txt; echo no > outside.txt; echo its own words',
          scope: { write: ['README.md', 'second.txt', 'r'] },
          check,
        },
      },
    }),
  );
  return { bosun, state: (await run.finished).state };
}

test('its diff, files, what was left out and its output stay those of the task', async () => {
  await using repository = await makeRepository({ files: { 'README.md': 'one\ntwo\nthree\n' } });
  const { bosun, state } = await clash(repository, 'grep -q SECOND README.md');
  expect(state).toBe('done');
  const { files, patch } = await bosun.diff(undefined, 'second');
  expect(files.map(({ path }) => path)).toEqual(['README.md', 'second.txt']);
  expect(patch.toString()).toContain('+SECOND');
  expect(patch.toString()).not.toMatch(/<<<<<<<|>>>>>>>/);
  const outside = await diffOf({ cwd: repository.path, task: 'second', outside: true });
  expect(outside.files.map(({ path }) => path)).toEqual(['outside.txt']);
  const { tasks } = await bosun.status();
  expect(tasks.find(({ id }) => id === 'second')).toMatchObject({ changedCount: 2, outsideCount: 1 });
  const report = (await bosun.report()).tasks.find(({ id }) => id === 'second')!;
  expect(report.attempts.map(({ purpose, changedCount }) => [purpose, changedCount])).toEqual([
    ['work', 2],
    ['resolve', 2],
  ]);
  expect(JSON.stringify(report.diff)).not.toMatch(/<<<<<<<|>>>>>>>/);
  expect(JSON.stringify(report.diff)).toContain('second.txt');
  expect(JSON.stringify(report)).toContain('its own words');
});

test('its check judges what was made of the conflict', async () => {
  await using repository = await makeRepository({ files: { 'README.md': 'one\ntwo\nthree\n' } });
  const { bosun, state } = await clash(repository, 'test $(wc -l < README.md) = 3');
  expect(state).toBe('failed');
  const second = (await bosun.status()).tasks.find(({ id }) => id === 'second');
  expect(second).toMatchObject({ state: 'failed', message: expect.stringMatching(/the check .* failed/) });
});
