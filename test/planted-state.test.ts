/** A state directory that came with an archive: nothing in it leads bosun to what is elsewhere. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { Home } from '../src/store/home.ts';
import { findGit } from '../src/system/files/state-directory.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const WORK = workflow({ name: 'w', tasks: { a: { run: 'true' } } });

/** Somebody's own files, beside the repository. */
async function precious(repository: TestRepository): Promise<{ directory: string; intact(): Promise<void> }> {
  const directory = await mkdtemp(`${repository.path}-precious-`);
  await chmod(directory, 0o700);
  await mkdir(path.join(directory, 'sub'));
  await writeFile(path.join(directory, 'thesis'), 'thesis');
  return {
    directory,
    async intact() {
      expect((await readdir(directory)).toSorted()).toEqual(['sub', 'thesis']);
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
    },
  };
}

async function said(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'nothing',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  );
}

test.each([
  'sandbox',
  'sandbox/attempts',
  'sandbox/s',
  'sandbox/memory',
  'sandbox/odd',
  'runs',
  'engines',
  'tmp',
  'reserve',
  'git',
  'git/objects/aa',
  'git/refs/heads',
  'git/refs/heads/bosun',
  'git/packed-refs',
])('nothing is done where %s of the state is a link', async (name) => {
  await using repository = await makeRepository();
  const { directory, intact } = await precious(repository);
  const link = path.join(repository.path, '.git/bosun', name);
  await mkdir(path.join(repository.path, '.git/bosun'), { mode: 0o700 });
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(directory, link);
  await writeFile(path.join(repository.path, '.git/bosun/journal.db'), '');
  const bosun = new Bosun(repository.path);
  const refusal = `${link} is a symbolic link`;
  expect(await said(bosun.run(WORK))).toContain(refusal);
  expect(await said(bosun.clean())).toContain(refusal);
  expect(await said(bosun.prune({ keep: 0 }))).toContain(refusal);
  if (!name.startsWith('git/')) expect(await said(bosun.status())).toContain(refusal);
  await intact();
});

test.each(['.', 'artifacts', 'report.html.new', 'artifacts/a@1'])(
  'a run is not gone on with where %s of its directory is a link',
  async (name) => {
    await using repository = await makeRepository();
    const { directory, intact } = await precious(repository);
    const link = path.join(repository.path, '.git/bosun/runs/w-1', name);
    await mkdir(path.join(repository.path, '.git/bosun'), { mode: 0o700 });
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(directory, link);
    await writeFile(path.join(repository.path, '.git/bosun/journal.db'), '');
    const { store } = await (await import('../src/run/journal.ts')).openJournal(repository.path);
    expect(await said(store.claim('w-1'))).toContain(`${path.resolve(link)} is a symbolic link`);
    await store[Symbol.asyncDispose]();
    await intact();
  },
);

test.runIf(process.getuid?.() === 0)('a directory of somebody else in the state is not used', async () => {
  await using repository = await makeRepository();
  const home = new Home(findGit(repository.path)!);
  await mkdir(home.directory, { mode: 0o700 });
  await mkdir(home.runs);
  const { chown } = await import('node:fs/promises');
  await chown(home.runs, 12345, 12345);
  expect(await said(new Bosun(repository.path).run(WORK))).toContain(`${home.runs} belongs to user 12345`);
  expect(existsSync(home.git)).toBe(false);
});
