/** What a run needs outlives whatever other tools do to the user's repository. */
import { readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { openEngineGit } from '../src/system/git/engine-git.ts';
import { holdObjects, requireObjects } from '../src/system/git/hold-objects.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';

const FILES = { 'a.txt': 'a\n', 'deep/b.txt': 'b\n' };

/** The commit that was HEAD is in no branch, no reflog and no object of the user's any more. */
async function forget(repository: TestRepository): Promise<void> {
  await repository.write({ 'a.txt': `amended ${Math.random()}\n` });
  await repository.git('commit', '-q', '--amend', '-am', 'Amended');
  await repository.git('reflog', 'expire', '--expire=now', '--all');
  await repository.git('gc', '-q', '--prune=now');
}

test('a run can be shown and resumed after its base was amended and collected, and no log shows it', async () => {
  await using repository = await makeRepository({ files: FILES });
  const base = await repository.git('rev-parse', 'HEAD');
  const bosun = new Bosun(repository.path);
  const tasks = { edit: { run: 'echo more >> a.txt' }, fails: { needs: ['edit'], run: 'cat a.txt; exit 1' } };
  await (
    await bosun.run(workflow({ name: 'held', tasks }))
  ).finished;
  await forget(repository);
  await expect(repository.git('cat-file', '-e', base)).rejects.toThrow();
  expect((await bosun.diff()).files).toEqual([{ path: 'a.txt', added: 1, deleted: 0 }]);
  const run = await bosun.resume();
  expect((await run.finished).state).toBe('failed');
  expect((await bosun.diff()).patch.toString()).toContain('+more');
  expect(await repository.git('log', '--all', '--format=%s')).toBe('Amended');
  expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  await expect(bosun.merge()).rejects.toMatchObject({ code: 'conflict' });
});

test('a base that cannot be held is told at the end of its run, and hides no other failure', async () => {
  await using repository = await makeRepository({ files: FILES });
  const bosun = new Bosun(repository.path);
  const git = await openEngineGit(await inspectRepository(repository.path));
  await mkdir(path.join(git.directory, 'held.json')); // a directory cannot be written as a file
  const run = await bosun.run(workflow({ name: 'unheld', tasks: { one: { run: 'true' } } }));
  const ended = await run.finished;
  expect(ended.state).toBe('done');
  expect(ended.unheld).toMatch(
    /^what run unheld-1 started from could not be kept safe.*EISDIR.*on a branch$/,
  );
  const broken = await bosun.run(workflow({ name: 'unheld', tasks: { one: { run: 'sleep 0.2' } } }), {
    fault: () => {
      throw new Error('the first cause');
    },
  });
  await expect(broken.finished).rejects.toThrow('the first cause');
});

test('objects are held by a second name, and of a pack that is gone only what runs need stays', async () => {
  await using repository = await makeRepository({ files: { ...FILES, 'big.txt': 'x'.repeat(1000) } });
  await repository.git('gc', '-q');
  const open = async (): ReturnType<typeof openEngineGit> =>
    openEngineGit(await inspectRepository(repository.path));
  const git = await open();
  const base = git.repository.head;
  await holdObjects(git, base);
  await git.updateRef('refs/bosun/r/base', base);
  const packs = (): string[] =>
    readdirSync(path.join(git.directory, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  const [first] = packs();
  expect(packs()).toEqual(
    readdirSync(path.join(repository.path, '.git/objects/pack')).filter((name) => name.endsWith('.pack')),
  );
  await forget(repository);
  await holdObjects(await open(), base);
  expect(packs(), 'the new one of the user, and one with the rest of the old').toHaveLength(2);
  expect(packs()).not.toContain(first);
  expect(await git.text(['rev-list', '--objects', '--count', base])).toBe('6');
  expect(await git.text(['fsck', '--full', '--no-dangling'])).toBe('');
  // and the next time, from loose objects
  await repository.write({ 'c.txt': 'c\n' });
  await repository.git('add', '-A');
  await repository.git('commit', '-qm', 'loose');
  const second = await open();
  await holdObjects(second, second.repository.head);
  await second.updateRef('refs/bosun/s/base', second.repository.head);
  await repository.git('reset', '-q', '--hard', 'HEAD~1');
  await repository.git('reflog', 'expire', '--expire=now', '--all');
  await repository.git('prune', '--expire=now');
  await requireObjects(await open(), second.repository.head, 'run s');
  expect(await second.text(['cat-file', '-p', `${second.repository.head}:c.txt`])).toBe('c');
  await second.run(['repack', '-d', '-l', '-q', '--geometric=2']);
  expect(
    await second.text(['cat-file', '-p', `${base}:deep/b.txt`]),
    'packs are put together around it',
  ).toBe('b');
});

test('a partial clone, and a base that is gone all the same, are a message with what to do', async () => {
  await using repository = await makeRepository({ files: FILES });
  await repository.git('config', 'uploadpack.allowFilter', 'true');
  const parent = path.dirname(repository.path);
  const partial = path.join(parent, 'partial');
  await gitIn(parent)(
    'clone',
    '-q',
    '--filter=blob:none',
    '--no-checkout',
    `file://${repository.path}`,
    partial,
  );
  const git = await openEngineGit(await inspectRepository(partial));
  const { head } = git.repository;
  await expect(requireObjects(git, head, 'this run')).rejects.toMatchObject({
    message: expect.stringMatching(
      /partial clone that lacks 2 files of commit \w{8}.*git fetch --refetch --no-filter/,
    ),
  });
  await gitIn(partial)('fetch', '-q', '--refetch', '--no-filter');
  await requireObjects(git, head, 'this run');
  await rm(path.join(partial, '.git', 'objects', 'pack'), { recursive: true });
  await expect(requireObjects(git, head, 'run x-1')).rejects.toMatchObject({
    message: expect.stringMatching(/which run x-1 started from, is gone.*git fetch <its path> \w{40}/),
  });
});
