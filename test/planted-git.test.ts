/** A repository cannot get code run by what git obeys: attributes, configuration, hooks. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { commitDirtyTree } from '../src/system/git/dirty-tree.ts';
import { openEngineGit } from '../src/system/git/engine-git.ts';
import { gitInRepository } from '../src/system/git/git.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { PLANTED_ATTRIBUTES, plantGit } from './fixtures/planted.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';

const LINES = Array.from({ length: 9 }, (_, n) => `line ${n}\n`).join('');
const FILES = {
  '.gitattributes': PLANTED_ATTRIBUTES,
  'a.md': 'a\n',
  'b.ts': 'b\n',
  'c.txt': 'c\n',
  'd.json': LINES,
};

afterEach(() => vi.unstubAllEnvs());

function tracesDirectory(): { traces: string; ran(): string[] } {
  const traces = mkdtempSync(path.join(tmpdir(), 'bosun-traces-'));
  return { traces, ran: () => readdirSync(traces) };
}

async function work(repository: TestRepository, run: string, dirty = false): Promise<Bosun> {
  const bosun = new Bosun(repository.path);
  const tasks = {
    edit: { run },
    again: { needs: ['edit'], run: 'git diff HEAD; git status; echo y > y.json' },
  };
  const live = await bosun.run(workflow({ name: 'planted', tasks }), { dirty });
  expect((await live.finished).state).toBe('done');
  return bosun;
}

test('a run, its diff and its merge run nothing that the repository brought, whatever its .git says', async () => {
  await using repository = await makeRepository({ files: FILES });
  const { traces, ran } = tracesDirectory();
  await plantGit(repository, traces);
  await repository.write({ 'new.json': 'n\n' });
  const bosun = await work(
    repository,
    'sed -i "s/line 8/agent/" d.json; echo more >> c.txt; echo x > x.json',
    true,
  );
  expect(ran(), 'while it ran').toEqual([]);
  const { files } = await bosun.diff();
  expect(files.map((file) => file.path)).toEqual(['c.txt', 'd.json', 'x.json', 'y.json']);
  expect(ran(), 'by diff').toEqual([]);
  // the user's own work meanwhile, so that there is something to merge
  await unlink(path.join(repository.path, 'new.json'));
  const config = path.join(repository.path, '.git', 'config');
  const planted = await readFile(config);
  await writeFile(config, '');
  await repository.write({ 'd.json': LINES.replace('line 0', 'user') });
  await repository.git('-c', 'core.hooksPath=/dev/null', 'commit', '-qam', 'mine');
  await writeFile(config, planted);
  await bosun.merge();
  expect(ran(), 'by merge').toEqual([]);
  const merged = await readFile(path.join(repository.path, 'd.json'), 'utf8');
  expect(merged).toBe(LINES.replace('line 0', 'user').replace('line 8', 'agent'));
});

test('what needs a filter that only the repository defines is refused, with what to do', async () => {
  await using repository = await makeRepository({ files: FILES });
  const { traces, ran } = tracesDirectory();
  const bosun = await work(repository, 'echo more >> a.md');
  await plantGit(repository, traces);
  const head = await repository.git('rev-parse', 'HEAD');
  const message = expect.stringMatching(
    /needs the filter "evil" for a\.md.*git config --global filter\.evil/,
  );
  await expect(bosun.merge()).rejects.toMatchObject({ code: 'wrong-state', message });
  await repository.write({ 'a.md': 'mine\n' });
  const git = await openEngineGit(await inspectRepository(repository.path));
  await expect(commitDirtyTree(git, 'x', 0)).rejects.toMatchObject({ message });
  expect(await repository.git('rev-parse', 'HEAD')).toBe(head);
  expect(ran()).toEqual([]);
});

test("a filter of the user's own configuration does its work when files are written and read", async () => {
  await using repository = await makeRepository({
    files: { '.gitattributes': '*.up filter=up\n', 'a.up': 'a\n' },
  });
  const settings = path.join(path.dirname(repository.path), 'user-settings');
  await writeFile(settings, '[filter "up"]\n\tclean = tr A-Z a-z\n\tsmudge = tr a-z A-Z\n');
  vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
  const bosun = await work(repository, 'echo more > b.up');
  await bosun.merge(undefined, { squash: true });
  expect(await readFile(path.join(repository.path, 'b.up'), 'utf8')).toBe('MORE\n');
  expect(await repository.git('log', '--format=%an %s%n%b')).toBe(
    'Tester planted: 2 tasks of run planted-1\n- edit\n- again\n\nBosun-Run: planted-1\nCo-authored-by: bosun <bosun@localhost>\n\nTester Start\n',
  );
  expect(await (await inspectRepository(repository.path)).changed('no')).toEqual([]);
  expect(await bosun.merge()).toMatchObject({ kind: 'nothing' }); // all of it is there, if not as the run's commits
  await writeFile(path.join(repository.path, 'b.up'), 'DIRTY\n');
  const git = await openEngineGit(await inspectRepository(repository.path));
  expect(await git.text(['cat-file', '-p', `${await commitDirtyTree(git, 'x', 0)}:b.up`])).toBe('dirty');
});

test('a submodule gets nothing run either', async () => {
  await using inner = await makeRepository({ files: FILES });
  await using repository = await makeRepository({ files: { 'a.txt': 'a\n' } });
  const { traces, ran } = tracesDirectory();
  await repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'sub');
  await repository.git('commit', '-qm', 'sub');
  const sub = path.join(repository.path, 'sub');
  await gitIn(sub)('config', 'filter.evil.clean', `sh -c 'touch ${traces}/evil-sub; cat'`);
  await gitIn(sub)('config', 'core.fsmonitor', `touch ${traces}/evil-sub-fsmonitor; false`);
  await writeFile(path.join(sub, 'a.md'), 'b\n'); // of the same size: git has to read it
  await repository.write({ 'a.txt': 'changed\n' });
  const inspected = await inspectRepository(repository.path);
  expect(await inspected.changed('all')).toEqual(['a.txt']);
  await commitDirtyTree(await openEngineGit(inspected), 'x', 0);
  expect(ran()).toEqual([]);
});

test('a repository cannot point at files outside of it: a work tree, an ignore file, a link', async () => {
  await using repository = await makeRepository();
  const parent = path.dirname(repository.path);
  const secret = path.join(parent, 'secret');
  await writeFile(secret, 'SECRET\n');
  await repository.git('config', 'core.excludesFile', secret);
  const exclude = path.join(repository.path, '.git', 'info', 'exclude');
  await mkdir(path.dirname(exclude), { recursive: true });
  await unlink(exclude).catch(() => {});
  await symlink(secret, exclude);
  expect((await (await inspectRepository(repository.path)).excludes()).join('')).not.toContain('SECRET');
  await repository.git('config', 'core.worktree', parent);
  await expect(inspectRepository(repository.path)).rejects.toMatchObject({
    code: 'no-repository',
    message: expect.stringMatching(/not a work tree of it \(core\.worktree\).*--unset core\.worktree/),
  });
});

test('an object that is missing is not fetched by a command that the repository names', async () => {
  await using repository = await makeRepository({ files: FILES });
  const { traces, ran } = tracesDirectory();
  const [commit, blob] = (await repository.git('rev-parse', 'HEAD', 'HEAD:c.txt')).split('\n') as [
    string,
    string,
  ];
  await plantGit(repository, traces);
  const inspected = await inspectRepository(repository.path);
  const git = await openEngineGit(inspected);
  for (const object of [blob, commit]) {
    await unlink(path.join(repository.path, '.git', 'objects', object.slice(0, 2), object.slice(2)));
    await repository.write({ 'c.txt': 'touched\n' });
    await inspected.changed('all').catch(() => {});
    await git.run(['cat-file', '-p', object], { codes: [128] });
  }
  await expect(inspectRepository(repository.path)).rejects.toMatchObject({ code: 'no-repository' });
  expect(ran()).toEqual([]);
});

test("nothing but reading and setting refs can be asked of git in a user's git directory", () => {
  for (const verb of ['status', 'add', 'merge', 'fetch', 'diff', 'checkout', 'commit', 'gc'])
    expect(() => gitInRepository([verb]), verb).toThrow(/must not run/);
});
