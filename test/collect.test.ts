/** What an attempt changed becomes exactly one commit of the engine's. */
import { statSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { keepArtifacts } from '../src/collect/artifacts.ts';
import { attemptRef, CHANGED_MAX, collect } from '../src/collect/collect.ts';
import type { VetScope } from '../src/collect/vet.ts';
import type { Change } from '../src/system/git/change.ts';
import { cQuote } from '../src/system/git/git.ts';
import { openWorkspaces } from '../src/workspace/open.ts';
import { makeEngine, shell, type TestEngine } from './fixtures/engine.ts';
import { gitIn } from './fixtures/repository.ts';

const AT_MS = 1_700_000_000_000;

async function collectAfter(
  engine: TestEngine,
  command: string,
  task = 'task',
  scope: VetScope = {},
): Promise<Awaited<ReturnType<typeof collect>>> {
  const workspaces = openWorkspaces(engine.git, engine.sandbox);
  const workspace = await workspaces.create(await workspaces.base(engine.head), task);
  await shell(engine.sandbox.launcher, workspace, command);
  return collectChanges(engine, await workspace.changes(), task, scope);
}

function collectChanges(
  engine: TestEngine,
  changes: Change[],
  task = 'task',
  scope: VetScope = {},
): ReturnType<typeof collect> {
  const ref = attemptRef('run', task, 1);
  return collect({
    git: engine.git,
    changes,
    scope,
    parent: engine.head,
    ref,
    message: 'What it did\n',
    atMs: AT_MS,
  });
}

describe('collecting', () => {
  test('makes a commit on the one the workspace started from, under a private ref, and touches nothing of the user', async () => {
    await using engine = await makeEngine({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } });
    const before = await engine.repository.git('for-each-ref');
    const collected = await collectAfter(
      engine,
      'echo more >> a.txt; rm b.txt; echo new > c.txt; echo x > run; chmod +x run; ln -s c.txt link; git commit -qam mine',
    );
    expect(collected).toMatchObject({
      changed: [
        { path: 'a.txt', change: 'modified' },
        { path: 'b.txt', change: 'deleted' },
        { path: 'c.txt', change: 'added' },
        { path: 'link', change: 'added' },
        { path: 'run', change: 'added' },
      ],
      changedCount: 5,
      refused: [],
    });
    const git = gitIn(engine.git.directory);
    expect(await git('rev-parse', 'refs/bosun/run/task@1', `${collected.commit}^`)).toBe(
      `${collected.commit}\n${engine.head}`,
    );
    expect(await git('log', '-1', '--format=%an %ae %ct %s', collected.commit)).toBe(
      'bosun bosun@localhost 1700000000 What it did',
    );
    expect(await git('ls-tree', '-r', '--format=%(objectmode) %(path)', collected.commit)).toBe(
      '100644 a.txt\n100644 c.txt\n120000 link\n100755 run',
    );
    expect(await git('cat-file', '-p', `${collected.commit}:link`)).toBe('c.txt');
    expect(await engine.repository.git('for-each-ref')).toBe(before);
    expect(await engine.repository.git('status', '--porcelain')).toBe('');
  });

  test('makes no commit where nothing changed, also where a file was written with the same content', async () => {
    await using engine = await makeEngine({ files: { 'a.txt': 'a\n' } });
    for (const [task, command] of [
      ['idle', 'true'],
      ['same', 'echo a > a.txt; touch a.txt'],
      ['empty', 'mkdir empty'],
      ['pipe', 'mkfifo p'],
    ] as const) {
      const collected = await collectAfter(engine, command, task);
      expect(collected).toMatchObject({ commit: engine.head, changed: [], changedCount: 0 });
      expect(await engine.git.revParse(attemptRef('run', task, 1))).toBeUndefined();
    }
  });

  test('keeps every byte of names and contents', async () => {
    await using engine = await makeEngine({ files: { 'old\nname "q"\\': 'old\n' } });
    const collected = await collectAfter(
      engine,
      `rm old*; printf 'a\\0b\\r\\n' > "$(printf 'x\\ny\\351 "q" \\\\ \\t\\001')"; mkdir ' lead'; printf z > ' lead/ü '`,
    );
    const listed = await engine.git.run(['ls-tree', '-r', '-z', '--name-only', collected.commit]);
    expect(listed.stdout.toString('latin1')).toBe(' lead/\xc3\xbc \0x\ny\xe9 "q" \\ \t\x01\0');
    const blob = await engine.git.run(['ls-tree', '-r', '-z', '--object-only', collected.commit]);
    const [, second] = blob.stdout.toString().split('\0');
    expect((await engine.git.run(['cat-file', 'blob', second!])).stdout.toString('latin1')).toBe('a\0b\r\n');
  });

  test('replaces directories by files and files by directories', async () => {
    await using engine = await makeEngine({
      files: { 'd/a': 'a\n', 'd/b': 'b\n', f: 'f\n', 'again/old': 'o\n' },
    });
    const collected = await collectAfter(
      engine,
      'rm -r d; echo file > d; rm f; mkdir f; echo in > f/in; rm -r again; mkdir again; echo n > again/new',
    );
    expect(await gitIn(engine.git.directory)('ls-tree', '-r', '--name-only', collected.commit)).toBe(
      'again/new\nd\nf/in',
    );
  });

  test('can be done again for the same attempt, as after a crash', async () => {
    await using engine = await makeEngine({ files: { 'a.txt': 'a\n' } });
    const first = await collectAfter(engine, 'echo 1 > a.txt');
    const second = await collectAfter(engine, 'echo 2 > a.txt');
    const third = await collectAfter(engine, 'echo 2 > a.txt');
    expect(second.commit).not.toBe(first.commit);
    expect(third.commit).toBe(second.commit);
    expect(await engine.git.revParse(attemptRef('run', 'task', 1))).toBe(second.commit);
  });

  test('stores a file of 100 MB without holding it in memory', async () => {
    await using engine = await makeEngine();
    const file = path.join(engine.repository.path, '.git/bosun/big');
    const piece = randomBytes(1024 * 1024);
    const hash = createHash('sha1').update(`blob ${100 * piece.length}\0`);
    const handle = await open(file, 'w');
    for (let i = 0; i < 100; i += 1) {
      piece.writeUInt32LE(i);
      hash.update(piece);
      await handle.write(piece);
    }
    await handle.close();
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    const collected = await collectChanges(engine, [fileChange('big.bin', file)]);
    clearInterval(watch);
    expect(await engine.git.revParse(`${collected.commit}:big.bin`)).toBe(hash.digest('hex'));
    expect(peak - before).toBeLessThan(80 * 1024 * 1024);
  });

  test('leaves out a file that vanished and takes the rest', async () => {
    await using engine = await makeEngine();
    const there = path.join(engine.git.home, 'there');
    await writeFile(there, 'x\n');
    const collected = await collectChanges(engine, [
      fileChange('gone', path.join(engine.git.home, 'gone')),
      fileChange('there', there),
    ]);
    expect(collected.changed).toEqual([{ path: 'there', change: 'added' }]);
    expect(collected.refused).toEqual(['gone: it vanished before it was read']);
  });

  test('stays in step with a file that grows and shrinks while it is read', async () => {
    await using engine = await makeEngine();
    const file = path.join(engine.git.home, 'moving');
    await writeFile(file, Buffer.alloc(30 * 1024 * 1024, 'a'));
    let size = 30;
    const moving = setInterval(() => {
      size = size === 30 ? 3 : 30;
      void truncate(file, size * 1024 * 1024);
    }, 7);
    const result = await collectChanges(engine, [
      fileChange('moving', file),
      fileChange('after', import.meta.filename),
    ]).catch((error: Error) => error);
    clearInterval(moving);
    if (result instanceof Error) expect(result.message).toMatch(/moving: it keeps changing/);
    else expect(await engine.git.revParse(`${result.commit}:after`)).toBeDefined();
    // and the way is free for the next one
    expect((await collectChanges(engine, [fileChange('after', import.meta.filename)])).changedCount).toBe(1);
  });

  test('keeps the packs few after many collections, and every result readable', async () => {
    await using engine = await makeEngine();
    const source = path.join(engine.git.home, 'source');
    const commits: string[] = [];
    for (let n = 0; n < 110; n += 1) {
      await writeFile(source, `${n}\n`);
      commits.push((await collectChanges(engine, [fileChange('n.txt', source)], `task${n}`)).commit);
    }
    const packs = (await readdir(path.join(engine.git.directory, 'objects', 'pack'))).filter((name) =>
      name.endsWith('.pack'),
    );
    expect(packs.length).toBeLessThan(50);
    for (const [n, commit] of commits.entries()) {
      if (n % 10 === 0) expect(await engine.git.text(['cat-file', '-p', `${commit}:n.txt`])).toBe(String(n));
    }
  });

  test('lists a bounded number of files and counts them all', async () => {
    await using engine = await makeEngine();
    const collected = await collectAfter(engine, 'mkdir many; cd many; seq 1 1500 | xargs touch');
    expect(collected.changed.length).toBe(CHANGED_MAX);
    expect(collected.changedCount).toBe(1500);
  });

  test('names what it refused', async () => {
    await using engine = await makeEngine();
    const collected = await collectAfter(engine, 'mkfifo pipe; git init -q inner; echo ok > ok');
    expect(collected.refused).toEqual(['inner: nested repository', 'pipe: a named pipe']);
    expect(collected.changedCount).toBe(1);
  });

  test('keeps a submodule as it is in the commit', async () => {
    await using engine = await makeEngine();
    const { repository } = engine;
    await repository.git('update-index', '--add', '--cacheinfo', `160000,${engine.head},lib`);
    await repository.git('commit', '-qm', 'submodule');
    const head = await repository.git('rev-parse', 'HEAD');
    const collected = await collectAfter({ ...engine, head }, 'echo x > x; ls lib');
    expect(await gitIn(engine.git.directory)('ls-tree', collected.commit, 'lib')).toBe(
      `160000 commit ${engine.head}\tlib`,
    );
  });

  test('gives a patch that applies', async () => {
    await using engine = await makeEngine({ files: { 'a.txt': 'a\n', 'b.bin': Buffer.from([0, 1, 2]) } });
    const collected = await collectAfter(
      engine,
      `echo b >> a.txt; printf '\\0\\377' > b.bin; echo c > c.txt`,
    );
    const pieces: Buffer[] = [];
    await engine.git.streamDiff(engine.head, collected.commit, (piece) => void pieces.push(piece));
    const patch = Buffer.concat(pieces);
    await writeFile(path.join(engine.repository.path, '.git/bosun/p.patch'), patch);
    await engine.repository.git('apply', '--index', '.git/bosun/p.patch');
    expect(await engine.repository.git('write-tree')).toBe(
      await engine.git.revParse(`${collected.commit}^{tree}`),
    );
    expect(await engine.git.numstat(engine.head, collected.commit)).toEqual([
      { path: Buffer.from('a.txt'), added: 1, deleted: 0 },
      { path: Buffer.from('b.bin') },
      { path: Buffer.from('c.txt'), added: 1, deleted: 0 },
    ]);
  });
});

test('names of refs hold any task name', async () => {
  await using engine = await makeEngine();
  for (const task of ['plain', 'review[0]', 'a/b', 'a..b', 'x.lock', '@{', 'ü ~^:?*\\']) {
    await engine.git.updateRef(attemptRef('run', task, 1), engine.head);
    expect(await engine.git.revParse(attemptRef('run', task, 1))).toBe(engine.head);
  }
});

test('names are quoted the way git reads them', () => {
  expect(cQuote(Buffer.from('a"b\\c\nd\x7f')).toString()).toBe('"a\\"b\\\\c\\012d\\177"');
});

describe('artifacts', () => {
  test('are copied within their limits; the others are named', async () => {
    await using engine = await makeEngine();
    const from = path.join(engine.git.home, 'from');
    const into = path.join(engine.git.home, 'runs', 'r', 'artifacts', 'task@1');
    await mkdir(from);
    await symlink('/etc/passwd', path.join(from, 'link'));
    await mkdir(path.join(from, 'deep'));
    await symlink('/etc', path.join(from, 'etc'));
    await writeFile(path.join(from, 'sparse'), '');
    await truncate(path.join(from, 'sparse'), 1024 ** 4);
    const found = await Promise.all(
      ['a', 'deep/b', 'big', 'c'].map(async (name) => {
        await writeFile(path.join(from, name), name === 'big' ? Buffer.alloc(100) : name);
        return { path: name, root: from };
      }),
    );
    await writeFile(path.join(from, 'strong'), '');
    await chmod(path.join(from, 'strong'), 0o4755);
    const bad = ['gone', 'link', 'etc/passwd', 'sparse', 'strong'].map((name) => ({
      path: name,
      root: from,
    }));
    const kept = await keepArtifacts([...found, ...bad], into, { filesMax: 10, bytesMax: 50 });
    expect(kept.artifacts).toEqual(['a', 'deep/b', 'c']);
    expect(kept.refused).toEqual([
      'big: artifacts larger than 50 bytes in all',
      'gone: not there',
      'link: link is a symbolic link, which is not followed',
      'etc/passwd: etc is a symbolic link, which is not followed',
      'sparse: artifacts larger than 50 bytes in all',
      'strong: it is set-uid or set-gid',
    ]);
    expect(await readFile(path.join(into, 'deep', 'b'), 'utf8')).toBe('deep/b');
    const few = await keepArtifacts(found, path.join(into, 'few'), { filesMax: 1, bytesMax: 1000 });
    expect(few).toEqual({ artifacts: ['a'], refused: ['deep/b: more than 1 artifacts'] });
  });
});

function fileChange(name: string, source: string): Change {
  return {
    kind: 'file',
    path: Buffer.from(name),
    source: Buffer.from(source),
    mode: '100644',
    size: statSync(source, { throwIfNoEntry: false })?.size ?? 0,
    isNew: true,
  };
}
