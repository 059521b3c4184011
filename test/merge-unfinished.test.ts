/** A merge of a run that did not do all of its tasks says so; one that was interrupted is not merged before somebody decides. */
import { expect, test } from 'vitest';
import { bosun, start } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const FAILS = `name: fix
tasks:
  one: { run: echo one > one.txt }
  two: { run: exit 3 }
  three: { needs: [two], run: echo three > three.txt }
`;
const STAYS = `name: fix
tasks:
  one: { run: echo one > one.txt }
  two: { needs: [one], run: echo at work; sleep 300 }
`;
const MISSING = 'run fix-1 failed: only 1 of 3 tasks is done (1 failed, 1 skipped)';

test('what a failed run did is merged, and preview and merge say what is missing', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': FAILS } });
  const { path: top, git } = repository;
  const base = await git('rev-parse', 'HEAD');
  expect((await bosun(top, 'run')).code).toBe(1);
  const preview = await bosun(top, 'merge', '--preview');
  const [first, ...rest] = preview.stdout.trimEnd().split('\n');
  expect(first).toMatch(/^main would be fast-forwarded, from \w{8} to \w{8}: 1 commit, 1 file of run fix-1$/);
  expect(first).toContain(`from ${base.slice(0, 8)} to`);
  expect(rest).toContain('  one.txt +1 -0');
  expect(rest.at(-1)).toBe(`note: ${MISSING}`);
  const merged = await bosun(top, 'merge');
  expect(merged.code).toBe(0);
  expect(merged.stderr).toContain(`note: ${MISSING}; continue with: bosun resume fix-1\n`);
});

test('an interrupted run is not merged; once it is cancelled, what is done is', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': STAYS } });
  const { path: top, git } = repository;
  const base = await git('rev-parse', 'HEAD');
  const { child, prints, finished } = start(top, 'run', '-v');
  await prints('at work');
  child.kill('SIGKILL');
  await finished;
  const problem =
    'run fix-1 was interrupted: 1 of 2 tasks is done; continue with: bosun resume fix-1; or, to merge only what is done, cancel it first: bosun cancel fix-1';
  const preview = await bosun(top, 'merge', '--preview');
  expect(preview.code).toBe(1);
  expect(preview.stdout).toContain(`not now: ${problem}\n`);
  expect(await bosun(top, 'merge')).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  expect(await git('rev-parse', 'HEAD')).toBe(base);
  await bosun(top, 'cancel');
  const merged = await bosun(top, 'merge');
  expect(merged.stderr).toContain('note: run fix-1 was cancelled: only 1 of 2 tasks is done (1 cancelled)');
});
