/** What a merge would do is told before it; what it did can be undone as long as nothing was built on it. */
import { readdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { squashedRef } from '../src/collect/collect.ts';
import { Bosun } from '../src/doors/library.ts';
import { loadWorkflow } from '../src/index.ts';
import { mergeRun, undoMerge } from '../src/operations/merge.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const FLOW = `name: pair
tasks:
  one: { run: 'echo theirs > shared.txt; rm gone.txt' }
  two: { run: 'mkdir -p lib; echo two > lib/two.txt' }
`;

async function ranOnce(): Promise<{ repository: TestRepository; bosun: Bosun } & AsyncDisposable> {
  const repository = await makeRepository({
    files: { 'bosun.yaml': FLOW, 'shared.txt': 'first\n', 'gone.txt': 'gone\n' },
  });
  const bosun = new Bosun(repository.path, { name: 'anna' });
  const live = await bosun.run((await loadWorkflow(path.join(repository.path, 'bosun.yaml'))).workflow);
  expect((await live.finished).state).toBe('done');
  return {
    repository,
    bosun,
    async [Symbol.asyncDispose]() {
      await bosun.close();
      await repository[Symbol.asyncDispose]();
    },
  };
}

const filesOf = ({ path: top }: TestRepository): string[] =>
  readdirSync(top)
    .filter((name) => name !== '.git')
    .toSorted();

test('a preview tells files, commits and conflicts, and touches nothing; an undo puts everything back', async () => {
  await using world = await ranOnce();
  const { repository, bosun } = world;
  const { git } = repository;
  const before = await git('rev-parse', 'HEAD');

  const forward = await bosun.previewMerge();
  expect(forward).toMatchObject({
    kind: 'fast-forward',
    onto: before,
    branch: 'main',
    commitCount: 2,
    conflicts: [],
  });
  expect(forward.files).toEqual([
    { path: 'gone.txt', added: 0, deleted: 1 },
    { path: 'lib/two.txt', added: 1, deleted: 0 },
    { path: 'shared.txt', added: 1, deleted: 1 },
  ]);
  expect(await git('status', '--porcelain')).toBe('');
  expect(await git('rev-parse', 'HEAD')).toBe(before);

  for (const shown of [
    { head: before, onto: before },
    { head: forward.head, onto: forward.head },
  ])
    await expect(bosun.merge(undefined, shown), 'what was looked at is what lands').rejects.toMatchObject({
      code: 'wrong-state',
    });
  expect(await git('rev-parse', 'HEAD')).toBe(before);
  await bosun.merge(undefined, { head: forward.head, onto: forward.onto });
  expect(filesOf(repository)).toEqual(['bosun.yaml', 'lib', 'shared.txt']);
  expect((await bosun.status()).run.landed).toMatchObject({
    kind: 'fast-forward',
    from: before,
    branch: 'main',
    by: 'program anna',
  });
  expect((await bosun.previewMerge()).kind).toBe('nothing');
  // as if somebody had saved it unchanged; a merge within a turn of the clock's second looks the same to git
  const touched = new Date(Date.now() + 5000);
  utimesSync(path.join(repository.path, 'lib/two.txt'), touched, touched);
  expect(await bosun.undoMerge()).toMatchObject({ head: before, branch: 'main' });
  expect(await git('rev-parse', 'HEAD')).toBe(before);
  expect(await git('status', '--porcelain')).toBe('');
  expect(filesOf(repository)).toEqual(['bosun.yaml', 'gone.txt', 'shared.txt']);
  await expect(bosun.undoMerge()).rejects.toMatchObject({
    code: 'wrong-state',
    message: expect.stringContaining('was undone already'),
  });

  const bys: string[] = [];
  for await (const page of bosun.events())
    for (const { event } of page)
      if (event.type === 'run.landed' || event.type === 'run.unlanded') bys.push(`${event.type} ${event.by}`);
  expect(bys).toEqual(['run.landed program anna', 'run.unlanded program anna']);

  // now the two conflict
  const own = await repository.commit('mine', { 'shared.txt': 'mine\n' });
  const conflict = await bosun.previewMerge();
  expect(conflict).toMatchObject({ kind: 'conflict', onto: own });
  expect(conflict.conflicts).toEqual([
    { path: 'shared.txt', text: '<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> the run' },
  ]);
  await repository.write({ 'bosun.yaml': 'changed\n' });
  expect((await bosun.previewMerge()).blocked).toContain('not committed (bosun.yaml)');
  expect(await git('rev-parse', 'HEAD')).toBe(own);
});

test('what was built on a merge, or lies in the way, is never lost: the undo is refused and says what to type', async () => {
  await using world = await ranOnce();
  const { repository, bosun } = world;
  const { git } = repository;
  await bosun.merge(undefined, { squash: true });
  const landed = await git('rev-parse', 'HEAD');
  const refused = async (words: string): Promise<void> => {
    await expect(bosun.undoMerge()).rejects.toMatchObject({
      code: 'wrong-state',
      message: expect.stringContaining(words),
    });
    expect((await bosun.status()).run.landed?.to).toBe(landed);
  };

  await repository.write({ 'shared.txt': 'in progress\n' });
  await refused('not committed (shared.txt)');
  await git('checkout', '-q', '--', 'shared.txt');

  await repository.write({ 'gone.txt': 'my own\n' }); // the undo would bring back another one
  await refused('would overwrite files');
  await git('clean', '-qf');

  await git('switch', '-qc', 'other');
  await refused('git switch main');
  await git('switch', '-q', 'main');

  const mine = await repository.commit('on top', { 'more.txt': 'more\n' });
  await refused(`git revert ${landed.slice(0, 10)}`);
  expect(await git('rev-parse', 'HEAD')).toBe(mine);
});

/** As if the process were killed there. */
const dying =
  (at: string) =>
  (point: string): void => {
    if (point === at) throw new Error(`died at ${at}`);
  };

test('a merge that is cut off between the branch and the journal is recorded by the next command, once', async () => {
  await using world = await ranOnce();
  const { repository, bosun } = world;
  const { git } = repository;
  const before = await git('rev-parse', 'HEAD');
  const cwd = repository.path;
  const landings = async (): Promise<string[]> => {
    const types: string[] = [];
    for await (const page of bosun.events(undefined, { types: ['run.landed', 'run.unlanded'] }))
      types.push(...page.map(({ event }) => event.type));
    return types;
  };

  const { headCommit, id } = (await bosun.status()).run;
  await expect(mergeRun({ cwd, by: 'anna', squash: true, fault: dying('unlocked') })).rejects.toThrow('died');
  const landed = await git('rev-parse', 'HEAD');
  expect(landed).not.toBe(before);
  expect(await landings(), 'it died before that').toEqual([]);
  await repository.commit('on top', { 'more.txt': 'more\n' });
  expect((await bosun.status()).recovered).toContain('it is complete now');
  expect((await bosun.status()).run.landed).toMatchObject({ kind: 'squashed', from: before, to: landed });
  expect(await git('--git-dir', '.git/bosun/git', 'rev-parse', squashedRef(id, headCommit))).toBe(landed);

  await git('reset', '-q', '--hard', landed);
  await expect(undoMerge({ cwd, by: 'anna', fault: dying('noted') })).rejects.toThrow('died');
  expect(await git('rev-parse', 'HEAD')).toBe(before);
  expect((await bosun.status()).recovered).toContain('it is complete now');
  expect(await landings(), 'the second is not there twice').toEqual(['run.landed', 'run.unlanded']);
  expect((await bosun.status()).recovered).toBeUndefined();
});
