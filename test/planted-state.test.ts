/** A state directory that came with an archive: nothing in it, and nothing that its journal says, leads elsewhere. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

test.each(['reserve', 'journal.db', 'engines/x.lock'])(
  'nothing is done where %s of the state is a hard link, and what it is a link to stays',
  async (name) => {
    await using repository = await makeRepository();
    const { directory, intact } = await precious(repository);
    const planted = path.join(repository.path, '.git/bosun', name);
    await mkdir(path.join(repository.path, '.git/bosun'), { mode: 0o700 });
    await mkdir(path.dirname(planted), { recursive: true });
    await link(path.join(directory, 'thesis'), planted);
    const bosun = new Bosun(repository.path);
    const refusal = /hard link/;
    expect(await said(bosun.run(WORK))).toMatch(refusal);
    if (name !== 'journal.db') await writeFile(path.join(repository.path, '.git/bosun/journal.db'), '');
    expect(await said(bosun.clean())).toMatch(refusal);
    expect(await said(bosun.prune({ keep: 0 }))).toMatch(refusal);
    await intact();
    expect(await readFile(path.join(directory, 'thesis'), 'utf8')).toBe('thesis');
  },
);

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

test('a git directory that is not whole is named, with what to do', async () => {
  await using repository = await makeRepository();
  await mkdir(path.join(repository.path, '.git/bosun'), { mode: 0o700 });
  await mkdir(path.join(repository.path, '.git/bosun/git'));
  await writeFile(path.join(repository.path, '.git/bosun/git/HEAD'), 'ref: refs/heads/main\n');
  expect(await said(new Bosun(repository.path).run(WORK))).toMatch(
    /^wrong-state: .*bosun\/git is not a whole git directory .*: move it away/,
  );
});

describe('a journal of a stranger', () => {
  const DAMAGED = /the journal .* is damaged/;
  let repository: TestRepository;
  beforeAll(async () => {
    repository = await makeRepository();
    await (
      await new Bosun(repository.path).run(WORK)
    ).finished;
  });
  afterAll(() => repository[Symbol.asyncDispose]());

  function write(sql: string, ...values: string[]): void {
    const db = new DatabaseSync(path.join(repository.path, '.git/bosun/journal.db'));
    db.prepare(sql).run(...values);
    db.close();
  }

  test.each([
    ['runs', '../../precious', { workspaces: [], memories: [] }],
    ['memories', 'w-7', { workspaces: [], memories: ['../../../../precious'] }],
    ['memories that are all', 'w-7', { workspaces: [], memories: ['..'] }],
    ['nothing', 'w-7', {}],
  ])('names %s that it pruned: none of them is a path', async (_, run, left) => {
    const own = path.join(repository.path, '.git/precious');
    await mkdir(own, { recursive: true });
    write(
      "INSERT OR REPLACE INTO pruned (run, name, number, left) VALUES (?, 'w', 7, ?)",
      run,
      JSON.stringify(left),
    );
    expect(await said(new Bosun(repository.path).prune({ keep: 9 }))).toMatch(DAMAGED);
    expect(existsSync(own)).toBe(true);
    expect(existsSync(path.join(repository.path, '.git/bosun/sandbox/memory'))).toBe(true);
    write('DELETE FROM pruned');
  });

  test('names a run: it is not a path', async () => {
    const id = '../../precious-1';
    write("UPDATE run SET view = replace(view, 'w-1', ?), id = ?", id, id);
    const bosun = new Bosun(repository.path);
    for (const action of [bosun.status(), bosun.history(), bosun.resume(), bosun.prune({ keep: 0 })])
      expect(await said(action)).toMatch(DAMAGED);
    const { openJournal } = await import('../src/run/journal.ts');
    await using journal = await openJournal(repository.path);
    expect(await said(journal.store.claim(id))).toMatch(DAMAGED);
    expect(() => journal.home.run(id)).toThrow('the id of a run is malformed');
    write("UPDATE run SET view = replace(view, ?, 'w-1'), id = 'w-1'", id);
  });

  test('names a task: it is not a path', async () => {
    write(`UPDATE event SET body = replace(body, '"task":"a"', '"task":"../../a"')`);
    expect(await said(new Bosun(repository.path).report())).toMatch(DAMAGED);
  });
});
