/** `merge.check` of a workflow looks at what would land, and merges take turns. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { BOSUN, bosun, startProgram } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';
import { findHome } from '../src/store/home.ts';
import { takeLock } from '../src/store/lock.ts';

test('a check of the merged files decides whether anything lands; merges take turns', async () => {
  await using repository = await makeRepository({
    files: {
      'bosun.yaml':
        "name: guarded\nmerge: { check: 'ls; touch litter; test -f ok.txt' }\ntasks: { work: { run: 'echo w > work.txt' } }\n",
    },
  });
  const { path: top } = repository;
  expect((await bosun(top, 'run')).code).toBe(0);
  const before = await repository.git('rev-parse', 'HEAD');
  const refused = await bosun(top, 'merge');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /work\.txt[^]*nothing was merged: on the merged files the check `ls.*failed/,
  );
  expect(await repository.git('rev-parse', 'HEAD')).toBe(before);
  expect(await repository.git('status', '--porcelain')).toBe('');

  await repository.write({ 'ok.txt': 'ok\n' });
  await repository.git('add', '-A');
  await repository.git('commit', '-qm', 'now it is');
  const home = findHome(top)!;
  const held = takeLock(home.mergeLock)!;
  expect(await bosun(top, 'merge')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/another bosun merge is at work/),
  });
  held[Symbol.dispose]();
  // left by a merge that was killed before it touched anything
  mkdirSync(path.join(home.landing, 'stage'), { recursive: true });
  const merged = await bosun(top, 'merge');
  expect(merged, merged.stderr).toMatchObject({ code: 0 });
  expect(readdirSync(top).toSorted()).toEqual(['.git', 'bosun.yaml', 'ok.txt', 'work.txt']);
  expect(existsSync(home.landing)).toBe(false);
  expect(
    await repository.git('log', '-1', '--format=%an|%s|%(trailers:key=Co-authored-by,valueonly)'),
  ).toMatch(/^Tester\|Merge bosun\/guarded-1\|bosun <bosun@localhost>/);
});

test('a check that reaches beyond the repository needs trust, like the run before it', async () => {
  await using repository = await makeRepository({
    files: {
      'bosun.yaml':
        "name: far\nworkspace: { setup: 'true', network: [far.test] }\nmerge: { check: 'true' }\ntasks: { work: { run: 'echo w > work.txt' } }\n",
    },
  });
  const { path: top } = repository;
  const [before, none] = [await repository.git('rev-parse', 'HEAD'), { BOSUN_TRUST: '0' }];
  expect((await bosun(top, 'run', '--trust')).code).toBe(0);
  const refused = await startProgram([BOSUN, 'merge'], top, none).finished;
  expect(refused.stderr).toMatch(/bosun\.yaml asks for more than this repository:\n {2}- .*far\.test/);
  expect(refused.code).not.toBe(0);
  expect(await repository.git('rev-parse', 'HEAD')).toBe(before);
  const merged = await bosun(top, 'merge', '--trust');
  expect(merged, merged.stderr).toMatchObject({ code: 0 });
});
