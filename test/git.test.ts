/** The user's repository: what is seen of it, and the one place that writes to it. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attemptRef, collect } from '../src/collect/collect.ts';
import { commitDirtyTree } from '../src/system/git/dirty-tree.ts';
import { openEngineGit, type EngineGit } from '../src/system/git/engine-git.ts';
import { land } from '../src/merge/land.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';

const AT_MS = 1_700_000_000_000;
const before = { global: process.env.GIT_CONFIG_GLOBAL, system: process.env.GIT_CONFIG_NOSYSTEM };

beforeAll(() => {
  process.env.GIT_CONFIG_GLOBAL = '/dev/null';
  process.env.GIT_CONFIG_NOSYSTEM = '1';
});
afterAll(() => {
  if (before.global === undefined) delete process.env.GIT_CONFIG_GLOBAL;
  if (before.system === undefined) delete process.env.GIT_CONFIG_NOSYSTEM;
});

async function open(repository: TestRepository): Promise<EngineGit> {
  return openEngineGit(await inspectRepository(repository.path));
}

/** A commit of the engine's on `parent` with these files. */
async function engineCommit(git: EngineGit, parent: string, files: Record<string, string>): Promise<string> {
  const changes = await Promise.all(
    Object.entries(files).map(async ([name, content], index) => {
      const source = path.join(git.home, `source-${index}`);
      await writeFile(source, content);
      return {
        kind: 'file',
        path: Buffer.from(name),
        source: Buffer.from(source),
        mode: '100644',
        size: Buffer.byteLength(content),
        isNew: true,
      } as const;
    }),
  );
  return (
    await collect({
      git,
      changes,
      scope: {},
      parent,
      ref: attemptRef('run', 'task', 1),
      message: 'Result\n',
      atMs: AT_MS,
    })
  ).commit;
}

/** All that must not change. */
async function snapshot(repository: TestRepository): Promise<string[]> {
  return [
    await repository.git('for-each-ref'),
    await repository.git('--no-optional-locks', 'status', '--porcelain'),
    await repository.git('ls-files', '-s'),
    await repository.git('rev-parse', 'HEAD'),
    await readFile(path.join(repository.path, '.git', 'config'), 'utf8'),
  ];
}

describe('looking at a repository', () => {
  test('tells its top, head and branch, from any directory inside it', async () => {
    await using repository = await makeRepository({ files: { 'deep/down/a.txt': 'a\n' } });
    const seen = await inspectRepository(path.join(repository.path, 'deep', 'down'));
    expect(seen).toMatchObject({ top: repository.path, branch: 'main', shallow: false, submodules: false });
    expect(seen.head).toBe(await repository.git('rev-parse', 'HEAD'));
    expect(await seen.changed('all')).toEqual([]);
    await repository.write({ 'new.txt': 'n\n' });
    expect(await seen.changed('all')).toEqual(['new.txt']);
    await repository.git('checkout', '-q', '--detach');
    expect((await inspectRepository(repository.path)).branch).toBeUndefined();
  });

  test('says what to do where there is nothing to work on', async () => {
    await using repository = await makeRepository({ empty: true });
    const parent = path.dirname(repository.path);
    await gitIn(parent)('init', '-q', '--bare', 'bare.git');
    const cases: [string, RegExp][] = [
      [parent, /is not inside a git repository: .*git init/],
      [repository.path, /has no commit yet.*git commit/],
      [path.join(parent, 'bare.git'), /is a bare repository.*clone it/],
      [path.join(repository.path, '.git'), /inside a git directory/],
      [path.join(parent, 'missing'), /does not exist/],
    ];
    for (const [where, message] of cases) {
      await expect(inspectRepository(where)).rejects.toMatchObject({
        code: 'no-repository',
        message: expect.stringMatching(message),
      });
    }
  });

  test('works from a path with spaces, colons, quotes and other letters, and after the repository was moved', async () => {
    await using repository = await makeRepository({ name: 'a b:c,d"e ü' });
    const git = await open(repository);
    expect(await git.revParse('HEAD')).toBeUndefined();
    const head = await repository.git('rev-parse', 'HEAD');
    expect(await git.revParse(`${head}:README.md`)).toBeDefined();
    const moved = `${repository.path} moved`;
    await rename(repository.path, moved);
    const again = await openEngineGit(await inspectRepository(moved));
    expect(await again.text(['cat-file', '-p', `${head}:README.md`])).toBe('hello');
  });
});

describe("the engine's git directory", () => {
  test('leaves no trace in the user’s repository', async () => {
    await using repository = await makeRepository();
    const before = await snapshot(repository);
    await open(repository);
    await open(repository);
    expect(await snapshot(repository)).toEqual(before);
  });

  test('works for a shallow repository', async () => {
    await using repository = await makeRepository();
    await repository.write({ 'b.txt': 'b\n' });
    await repository.git('add', '-A');
    await repository.git('commit', '-qm', 'second');
    const parent = path.dirname(repository.path);
    await gitIn(parent)('clone', '-q', '--depth=1', `file://${repository.path}`, 'shallow');
    const shallow = path.join(parent, 'shallow');
    const inspected = await inspectRepository(shallow);
    expect(inspected.shallow).toBe(true);
    const git = await openEngineGit(inspected);
    const commit = await engineCommit(git, inspected.head, { 'c.txt': 'c\n' });
    expect(await git.text(['log', '--format=%s', commit])).toBe('Result\nsecond');
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).toMatchObject({
      kind: 'fast-forward',
      head: commit,
    });
    expect(await gitIn(shallow)('log', '--format=%s')).toBe('Result\nsecond');
    expect(await gitIn(shallow)('fsck')).toBe('');
  });

  test('works for a linked work tree and lands on its branch', async () => {
    await using repository = await makeRepository();
    const linked = path.join(path.dirname(repository.path), 'linked');
    await repository.git('worktree', 'add', '-q', '-b', 'side', linked);
    const inspected = await inspectRepository(linked);
    expect(inspected).toMatchObject({ top: linked, branch: 'side' });
    const git = await openEngineGit(inspected);
    const commit = await engineCommit(git, inspected.head, { 'c.txt': 'c\n' });
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).toMatchObject({
      kind: 'fast-forward',
      branch: 'side',
    });
    expect(await readFile(path.join(linked, 'c.txt'), 'utf8')).toBe('c\n');
    expect(await repository.git('log', '--format=%s', 'main')).toBe('Start');
  });

  test('says what to do where the directory cannot be written', async () => {
    await using repository = await makeRepository();
    const inspected = await inspectRepository(repository.path);
    // root may write anywhere, but not through a file
    await writeFile(path.join(repository.path, '.git/bosun'), '');
    await expect(openEngineGit(inspected)).rejects.toMatchObject({
      code: 'system',
      message: expect.stringMatching(/\.git\/bosun must be a directory.*move it away/),
    });
  });
});

describe('a commit of the work tree as it is', () => {
  test('holds what is changed, new and deleted, not what is ignored, and leaves the index alone', async () => {
    await using repository = await makeRepository({
      files: { 'a.txt': 'a\n', 'gone.txt': 'g\n', '.gitignore': 'ignored\n' },
    });
    await repository.write({
      'a.txt': 'changed\n',
      'new.txt': 'n\n',
      ignored: 'i\n',
      excluded: 'e\n',
      'staged.txt': 's\n',
    });
    await writeFile(path.join(repository.path, '.git', 'info', 'exclude'), 'excluded\n');
    await repository.git('rm', '-q', '--cached', 'gone.txt');
    await repository.git('add', 'staged.txt');
    await repository.git('rm', '-q', '-f', '--ignore-unmatch', 'gone.txt');
    const git = await open(repository);
    const [state, index] = [
      await snapshot(repository),
      await stat(path.join(repository.path, '.git', 'index')),
    ];
    const commit = await commitDirtyTree(git, 'As it was\n', AT_MS);
    expect(await git.text(['ls-tree', '-r', '--name-only', commit])).toBe(
      '.gitignore\na.txt\ngone.txt\nnew.txt\nstaged.txt',
    );
    expect(await git.text(['cat-file', '-p', `${commit}:a.txt`])).toBe('changed');
    expect(await git.revParse(`${commit}^`)).toBe(await repository.git('rev-parse', 'HEAD'));
    expect(await snapshot(repository)).toEqual(state);
    expect((await stat(path.join(repository.path, '.git', 'index'))).mtimeMs).toBe(index.mtimeMs);
  });

  test('is HEAD itself where nothing differs', async () => {
    await using repository = await makeRepository();
    expect(await commitDirtyTree(await open(repository), 'x', AT_MS)).toBe(
      await repository.git('rev-parse', 'HEAD'),
    );
  });

  test('a work tree whose change is as long as what was there, in the second of its commit, is not taken for clean', async () => {
    await using repository = await makeRepository();
    const file = path.join(repository.path, 'README.md');
    const secondOf = async (name: string): Promise<number> => Math.floor((await stat(name)).mtimeMs / 1000);
    do {
      await writeFile(file, 'hello\n');
      await repository.git('commit', '--quiet', '--all', '--allow-empty', '-m', 'as it was');
      await writeFile(file, 'draft\n');
    } while ((await secondOf(file)) !== (await secondOf(path.join(repository.path, '.git/index'))));
    await new Promise((resolve) => setTimeout(resolve, 1100)); // a copy of the index made now has another second
    const git = await open(repository);
    const commit = await commitDirtyTree(git, 'x', AT_MS);
    expect(await git.text(['cat-file', '-p', `${commit}:README.md`])).toBe('draft');
  });
});

describe('landing', () => {
  test('goes forward where the branch has not moved', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, { 'new.txt': 'n\n' });
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).toEqual({
      kind: 'fast-forward',
      head: commit,
      branch: 'main',
    });
    expect(await repository.git('status', '--porcelain')).toBe('');
    expect(await readFile(path.join(repository.path, 'new.txt'), 'utf8')).toBe('n\n');
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).toMatchObject({
      kind: 'nothing',
      head: commit,
    });
    expect(await repository.git('fsck')).toBe('');
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  test('works on a detached HEAD', async () => {
    await using repository = await makeRepository();
    await repository.git('checkout', '-q', '--detach');
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, { 'new.txt': 'n\n' });
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).toEqual({
      kind: 'fast-forward',
      head: commit,
      branch: undefined,
    });
    expect(await repository.git('log', '--format=%s', 'main')).toBe('Start');
  });

  test('merges where the branch has moved, in the name of the user, and runs no hook', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, { 'new.txt': 'n\n' });
    await repository.write({ 'mine.txt': 'm\n' });
    await repository.git('add', '-A');
    await repository.git('commit', '-qm', 'mine');
    await mkdir(path.join(repository.path, '.git', 'hooks'), { recursive: true });
    for (const hook of ['pre-merge-commit', 'commit-msg', 'post-merge', 'prepare-commit-msg']) {
      await writeFile(
        path.join(repository.path, '.git', 'hooks', hook),
        '#!/bin/sh\ntouch hooked\nexit 1\n',
        { mode: 0o755 },
      );
    }
    expect(
      await land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Merge run r',
        what: 'run r',
      }),
    ).toMatchObject({ kind: 'merged' });
    expect(await repository.git('log', '-1', '--format=%an %s %p')).toMatch(/^Tester Merge run r \w+ \w+$/);
    expect(await repository.git('status', '--porcelain')).toBe('');
    expect(await repository.git('ls-files')).toBe('README.md\nmine.txt\nnew.txt');
  });

  test('signs as bosun where the user has no name', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, { 'new.txt': 'n\n' });
    await repository.write({ 'mine.txt': 'm\n' });
    await repository.git('add', '-A');
    await repository.git('commit', '-qm', 'mine');
    await repository.git('config', '--unset', 'user.name');
    await repository.git('config', '--unset', 'user.email');
    await land(git, {
      directory: path.join(git.home, 'landing'),
      commit,
      base: git.repository.head,
      message: 'Merge',
      what: 'run r',
    });
    expect(await repository.git('log', '-1', '--format=%an <%ae>')).toBe('bosun <bosun@localhost>');
  });

  test('refuses a dirty tree, an untracked file in the way and an unfinished merge, and loses nothing', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, {
      'new.txt': 'theirs\n',
      'README.md': 'theirs\n',
    });
    const refused = async (message: RegExp): Promise<void> => {
      const state = await snapshot(repository);
      await expect(
        land(git, {
          directory: path.join(git.home, 'landing'),
          commit,
          base: git.repository.head,
          message: 'Land',
          what: 'run r',
        }),
      ).rejects.toMatchObject({
        code: 'wrong-state',
        message: expect.stringMatching(message),
      });
      expect(await snapshot(repository)).toEqual(state);
    };
    await repository.write({ 'README.md': 'mine\n' });
    await refused(/changes that are not committed \(README\.md\): commit or stash/);
    await repository.git('add', '-A');
    await refused(/README\.md/);
    await repository.git('reset', '-q', '--hard');
    await repository.write({ 'new.txt': 'untracked\n' });
    await refused(/would overwrite files .*\(new\.txt\).*commit them, or move them/);
    expect(await readFile(path.join(repository.path, 'new.txt'), 'utf8')).toBe('untracked\n');
    await writeFile(path.join(repository.path, '.git', 'MERGE_HEAD'), `${git.repository.head}\n`);
    await refused(/in the middle of something \(MERGE_HEAD\)/);
  });

  test('leaves everything as it was on a conflict, and names the files', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const commit = await engineCommit(git, git.repository.head, {
      'README.md': 'theirs\n',
      'fine.txt': 'f\n',
    });
    await repository.write({ 'README.md': 'mine\n' });
    await repository.git('commit', '-qam', 'mine');
    await repository.write({ 'untracked.txt': 'u\n' });
    const state = await snapshot(repository);
    await expect(
      land(git, {
        directory: path.join(git.home, 'landing'),
        commit,
        base: git.repository.head,
        message: 'Land',
        what: 'run r',
      }),
    ).rejects.toMatchObject({
      code: 'conflict',
      data: { files: ['README.md'] },
    });
    expect(await snapshot(repository)).toEqual(state);
  });

  test('that conflicts can be merged by hand, also where the run started from uncommitted changes', async () => {
    await using repository = await makeRepository();
    const git = await open(repository);
    const { head } = git.repository;
    const base = await engineCommit(git, head, { 'dirty.txt': 'd\n' });
    const commit = await engineCommit(git, base, { 'README.md': 'theirs\n' });
    await repository.write({ 'README.md': 'mine\n' });
    await repository.git('commit', '-qam', 'mine');
    const directory = path.join(git.home, 'landing');
    const landing = land(git, { directory, commit, base, message: 'Land', what: 'run r' });
    await expect(landing).rejects.toMatchObject({ code: 'conflict' });
    await expect(repository.git('merge', commit)).rejects.toThrow();
    expect(await repository.git('status', '--porcelain')).toBe('UU README.md\nA  dirty.txt');
  });
});
