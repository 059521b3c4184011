/** What an attempt changed outside its scope is no part of its result, and is not lost either. */
import { describe, expect, test } from 'vitest';
import { attemptRef, collect } from '../src/collect/collect.ts';
import { listFilesBelow } from '../src/collect/files-below.ts';
import { tellOutside } from '../src/collect/tell-outside.ts';
import type { VetScope } from '../src/collect/vet.ts';
import { mergeResult } from '../src/merge/merge.ts';
import { openWorkspaces } from '../src/workspace/open.ts';
import { makeEngine, shell, type TestEngine } from './fixtures/engine.ts';
import { gitIn } from './fixtures/repository.ts';

const FILES = {
  'README.md': 'readme\n',
  '.env': 'secret\n',
  'docs/a.md': 'a\n',
  'docs/b.md': 'b\n',
  'docs/deep/c.md': 'c\n',
  'src/a.ts': 'a\n',
  'src/lib/b.ts': 'b\n',
};

type Collection = Awaited<ReturnType<typeof collect>>;

async function collectAfter(engine: TestEngine, command: string, scope: VetScope): Promise<Collection> {
  const workspaces = openWorkspaces(engine.git, engine.sandbox);
  const workspace = await workspaces.create(await workspaces.base(engine.head), 'task');
  await shell(engine.sandbox.launcher, workspace, command);
  return collect({
    git: engine.git,
    changes: await workspace.changes(),
    scope,
    parent: engine.head,
    ref: attemptRef('run', 'task', 1),
    message: 'What it did\n',
    atMs: 1_700_000_000_000,
  });
}

/** `A path` and so on, against the base. */
async function changed(engine: TestEngine, commit: string): Promise<string[]> {
  const paths = await engine.git.changedPaths(engine.head, commit);
  return paths.map((one) => `${one.status} ${one.path.toString()}`);
}

describe('a result', () => {
  test.each([
    ['edits', 'echo x >> src/a.ts; echo x >> README.md', ['M src/a.ts'], ['M README.md']],
    ['new files', 'echo x > src/new; mkdir tmp; echo x > tmp/new', ['A src/new'], ['A tmp/new']],
    ['deletes', 'rm src/a.ts README.md', ['D src/a.ts'], ['D README.md']],
    ['a rename out of it', 'mv src/a.ts a.ts', ['D src/a.ts'], ['A a.ts']],
    ['a rename into it', 'mv README.md src/r', ['A src/r'], ['D README.md']],
    [
      'a deleted directory, a part of which must stay',
      'rm -r docs',
      ['D docs/a.md', 'D docs/b.md'],
      ['D docs/deep/c.md'],
    ],
    [
      'a directory made anew',
      'rm -r docs; mkdir docs; echo b > docs/b.md; echo n > docs/n.md; echo t > docs/n.txt',
      ['D docs/a.md', 'A docs/n.md'],
      ['D docs/deep/c.md', 'A docs/n.txt'],
    ],
    [
      'a directory that became a file',
      'rm -r src; echo x > src',
      ['D src/a.ts', 'D src/lib/b.ts'],
      ['A src'],
    ],
    [
      'a file that became a directory',
      'rm README.md; mkdir README.md; echo x > README.md/x',
      [],
      ['D README.md', 'A README.md/x'],
    ],
  ])(
    'has only what the scope allows of %s, and the snapshot has all',
    async (_, command, inside, outside) => {
      await using engine = await makeEngine({ files: FILES });
      const collected = await collectAfter(engine, command, { write: ['src/**', 'docs/*.md'] });
      expect(await changed(engine, collected.commit)).toEqual(inside);
      expect(collected.changedCount).toBe(inside.length);
      expect(collected.changed.map((one) => one.path)).toEqual(inside.map((line) => line.slice(2)));
      expect(collected.outside?.files.map((one) => one.path)).toEqual(outside.map((line) => line.slice(2)));
      expect(collected.outside?.count).toBe(outside.length);
      const all = [...inside, ...outside].toSorted();
      expect((await changed(engine, collected.outside!.snapshot)).toSorted()).toEqual(all);
      const ref = `${attemptRef('run', 'task', 1)}+outside`;
      expect(await engine.git.revParse(ref)).toBe(collected.outside!.snapshot);
      expect(await engine.git.revParse(attemptRef('run', 'task', 1))).toBe(
        inside.length > 0 ? collected.commit : undefined,
      );
    },
  );

  test('is all that a merge takes', async () => {
    await using engine = await makeEngine({ files: FILES });
    const { commit } = await collectAfter(engine, 'echo x > src/a.ts; echo x > README.md', {
      write: ['src'],
    });
    const merged = await mergeResult({
      git: engine.git,
      shadow: engine.head,
      head: engine.head,
      base: engine.head,
      result: commit,
      message: 'task\n',
      onConflict: 'fail',
      atMs: 0,
    });
    if (merged.kind !== 'merged') throw new Error(merged.kind);
    expect(await changed(engine, merged.commit!)).toEqual(['M src/a.ts']);
  });

  test('is the base where nothing may be changed, and what was done is kept all the same', async () => {
    await using engine = await makeEngine({ files: FILES });
    const collected = await collectAfter(engine, 'echo x > README.md; rm -r src; echo y > y', { write: [] });
    expect(collected).toMatchObject({ commit: engine.head, changed: [], changedCount: 0, refused: [] });
    expect(await changed(engine, collected.outside!.snapshot)).toEqual([
      'M README.md',
      'D src/a.ts',
      'D src/lib/b.ts',
      'A y',
    ]);
    expect(collected.outside!.files[0]).toEqual({
      path: 'README.md',
      change: 'modified',
      why: 'outside the scope: the agent may change nothing',
    });
  });

  test('has no change of what is hidden, with a write scope or without one', async () => {
    await using engine = await makeEngine({ files: FILES });
    const collected = await collectAfter(engine, 'echo x > .env; echo x > README.md', { hide: ['.env'] });
    expect(collected.changed).toEqual([{ path: 'README.md', change: 'modified' }]);
    expect(collected.outside?.files).toEqual([
      { path: '.env', change: 'modified', why: 'hidden from the agent' },
    ]);
  });

  test('is one commit where all is allowed', async () => {
    await using engine = await makeEngine({ files: FILES });
    const collected = await collectAfter(engine, 'echo x > src/a.ts; rm -r src/lib', { write: ['src/**'] });
    expect(collected.outside).toBeUndefined();
    const commits = await gitIn(engine.git.directory)('for-each-ref', '--format=%(refname)', 'refs/bosun');
    expect(commits).toBe(attemptRef('run', 'task', 1));
  });

  test('has nothing left out where files were only taken away and put back', async () => {
    await using engine = await makeEngine({ files: FILES });
    const collected = await collectAfter(engine, 'rm -r docs; git checkout -q -- docs; echo x > src/a.ts', {
      write: ['src/**'],
    });
    expect(collected.changed).toEqual([{ path: 'src/a.ts', change: 'modified' }]);
    expect(collected.outside).toBeUndefined();
  });
});

test('what no commit may hold is in neither, whatever the scope', async () => {
  const hostile =
    'mkfifo src/pipe; ln -s /etc/passwd src/out; ln -s ../../x src/up; echo x > src/set; chmod u+s src/set; git init -q src/inner; echo ok > src/ok; echo x > x';
  for (const scope of [{}, { write: ['src/**'] }, { write: [] }]) {
    await using engine = await makeEngine({ files: FILES });
    const collected = await collectAfter(engine, hostile, scope);
    expect(collected.refused.toSorted()).toEqual([
      'src/inner: nested repository',
      'src/out: a link to an absolute path',
      'src/pipe: a named pipe',
      'src/set: a set-user-ID or set-group-ID file',
      'src/up: a link that leads out of the workspace',
    ]);
    const all = await changed(engine, collected.outside?.snapshot ?? collected.commit);
    expect(all).toEqual(['A src/ok', 'A x']);
  }
});

test('files below directories are found whatever the names and the number', async () => {
  const odd = { ':(top)a/x': '1', '*/y': '2', 'a b/ü': '3', 'plain/z': '4', 'plainer/z': '5' };
  await using engine = await makeEngine({ files: odd });
  const below = async (...names: string[]): Promise<string[][]> => {
    const paths = names.map(bytes);
    const filesBelow = await listFilesBelow(engine.git, engine.head, paths);
    return paths.map((one) => filesBelow(one).map(String));
  };
  const wanted = [[':(top)a/x'], ['*/y'], ['a b/ü'], ['plain/z'], []];
  expect(await below(':(top)a', '*', 'a b', 'plain', 'gone')).toEqual(wanted);
  const many = Array.from({ length: 1000 }, (_, n) => `no/${n}`);
  expect((await below(':(top)a', '*', 'a b', 'plain', 'gone', ...many)).slice(0, 5)).toEqual(wanted);
});

test('an agent is told what was left out, not endlessly', () => {
  const files = Array.from({ length: 30 }, (_, n) => ({
    path: `f${n}`,
    change: 'added' as const,
    why: 'outside the scope',
  }));
  expect(tellOutside(undefined)).toBe('');
  const told = tellOutside({ snapshot: 'x', files, count: 5000 });
  expect(told).toMatch(/ f0 \(outside the scope\), .* f19 \(outside the scope\) and 4980 more\.$/);
});

function bytes(text: string): Buffer {
  return Buffer.from(text);
}
