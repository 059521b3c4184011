/** The commits that we write ourselves are the ones that git would have made, and git can read every byte of them. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeCommit } from '../src/collect/write-commit.ts';
import type { Change } from '../src/system/git/change.ts';
import { cQuote } from '../src/system/git/git.ts';
import { storedZlib } from '../src/system/git/stored-zlib.ts';
import { makeEngine, type TestEngine } from './fixtures/engine.ts';
import { gitIn } from './fixtures/repository.ts';

/** Few, and such that one is the beginning of another: what is in the way of what, and what comes first, matters. */
const NAMES = ['a', 'a-b', 'a.b', 'a0', 'a b', 'A', 'é', '\n"'];
const anyPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
const anyChange = fc.record({ path: anyPath, text: fc.option(fc.constantFrom('one', 'two', 'three')) });

describe.each(['sha1', 'sha256'] as const)('a commit in a repository of %s', (objectFormat) => {
  test('is the one that git would have made of the same changes', async () => {
    await using engine = await makeEngine({ objectFormat });
    let parent = engine.head;
    let changedCount = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 8 }), async (edits) => {
        const changes = edits.map(({ path: names, text }): Change => {
          const name = Buffer.from(names.join('/'));
          if (text === null) return { kind: 'delete', path: name };
          return { kind: 'symlink', path: name, target: Buffer.from(text), isNew: true };
        });
        const expected = importByGit(engine, parent, changes);
        const { commit } = await write(engine, changes, parent);
        expect(commit).toBe(expected);
        if (expected !== parent) changedCount += 1;
        parent = commit;
      }),
      { numRuns: 60 },
    );
    expect(changedCount).toBeGreaterThan(30);
    await isSound(engine);
  }, 60_000);

  test('holds files of every size, each once', async () => {
    await using engine = await makeEngine({ objectFormat });
    const sizes = [0, 1, 15, 16, 2047, 2048, 64 * 1024, 64 * 1024 + 1, 3_000_000];
    const changes: Change[] = [];
    for (const size of sizes) {
      const source = path.join(engine.git.home, `source-${size}`);
      await writeFile(source, randomBytes(size));
      // Twice: what is large is written before it is known, and must not be in the pack a second time.
      for (const name of [`once-${size}`, `twice-${size}`]) changes.push(fileChange(name, source));
    }
    const { commit, refused } = await write(engine, changes);
    expect(refused).toEqual([]);
    for (const size of sizes) {
      const source = path.join(engine.git.home, `source-${size}`);
      const expected = await engine.repository.git('hash-object', '--no-filters', source);
      const ids = await engine.git.text(['rev-parse', `${commit}:once-${size}`, `${commit}:twice-${size}`]);
      expect(ids).toBe(`${expected}\n${expected}`);
    }
    await isSound(engine);
  });
});

test('what is stored as it is can be read by zlib, whatever its length', () => {
  for (const bytes of [0, 1, 4095, 4096, 65_535, 65_536, 200_000]) {
    const content = randomBytes(bytes);
    expect(inflateSync(storedZlib(content)).equals(content)).toBe(true);
    const ones = Buffer.alloc(bytes, 0xff); // sums as large as they get
    expect(inflateSync(storedZlib(ones)).equals(ones)).toBe(true);
  }
});

test('a directory with very many files is changed in one place', async () => {
  const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`wide/${n}`, '']));
  await using engine = await makeEngine({ files: wide });
  const changes: Change[] = [
    { kind: 'delete', path: Buffer.from('wide/1500') },
    link('wide/1500-and-more'),
    link('wide/2999'),
    link('wide/0/below'),
  ];
  const { commit } = await write(engine, changes);
  expect(commit).toBe(importByGit(engine, engine.head, changes));
  await isSound(engine);
});

test('a directory with a mode of old keeps what is in it', async () => {
  await using engine = await makeEngine({ files: { 'd/kept': 'k\n' } });
  const git = gitIn(engine.git.directory);
  const blob = await git('rev-parse', `${engine.head}:d/kept`);
  const inner = Buffer.concat([Buffer.from('100644 kept\0'), Buffer.from(blob, 'hex')]);
  const options = { cwd: engine.git.directory };
  const store = (content: Buffer): string =>
    execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      ...options,
      input: content,
    })
      .toString()
      .trim();
  const root = store(Buffer.concat([Buffer.from('040000 d\0'), Buffer.from(store(inner), 'hex')]));
  const parent = await engine.git.commitTree({ tree: root, parents: [], message: 'Old\n', atMs: 0 });
  const { commit } = await write(engine, [link('d/new')], parent);
  expect(await git('ls-tree', '-r', '--name-only', commit)).toBe('d/kept\nd/new');
});

test('where nothing can be written it says so, and leaves nothing behind', async () => {
  await using engine = await makeEngine();
  const packs = path.join(engine.git.directory, 'objects', 'pack');
  await expect(write(engine, [link('x')], '0'.repeat(40))).rejects.toThrow(/git has no tree 0+\^\{tree\}/);
  expect(await readdir(packs)).toEqual([]);
  await rename(packs, `${packs}-away`);
  await writeFile(packs, 'in the way');
  await expect(write(engine, [link('x')])).rejects.toThrow(/^the changes could not be stored: ENOTDIR/);
  await rm(packs);
  await rename(`${packs}-away`, packs);
  expect((await write(engine, [link('x')])).refused).toEqual([]);
});

test('packs can be read by workspaces of another user, whatever the umask', async () => {
  await using engine = await makeEngine();
  const before = process.umask(0o077);
  try {
    await write(engine, [link('x')]);
  } finally {
    process.umask(before);
  }
  const packs = path.join(engine.git.directory, 'objects', 'pack');
  const expected = process.getuid?.() === 0 ? 0o444 : 0o400;
  for (const name of await readdir(packs))
    expect((await stat(path.join(packs, name))).mode & 0o777).toBe(expected);
});

test('what a killed engine left half written goes away in time', async () => {
  await using engine = await makeEngine();
  const packs = path.join(engine.git.directory, 'objects', 'pack');
  const [old, young] = ['tmp_pack_1_1', 'tmp_pack_2_1'].map((name) => path.join(packs, name));
  for (const file of [old!, young!]) await writeFile(file, 'half');
  const daysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
  await utimes(old!, daysAgo, daysAgo);
  for (let n = 0; n < 105; n += 1) {
    const { commit } = await write(engine, [link(`n${n}`)]);
    await engine.git.stored(commit, engine.head);
  }
  const names = await readdir(packs);
  expect(names).not.toContain(path.basename(old!));
  expect(names).toContain(path.basename(young!));
});

describe('reading trees', () => {
  test('answers many at once, each with its own, and again from memory', async () => {
    const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`wide/${n}`, '']));
    await using engine = await makeEngine({ files: { ...wide, 'one/a': '', 'two/a': '', 'two/b': '' } });
    const { trees } = engine.git;
    const names = Array.from({ length: 60 }, (_, n) => ['wide', 'one', 'two'][n % 3]!);
    const entryBytes = (name: string): number => Buffer.byteLength(`100644 ${name}\0`) + 20;
    const wideBytes = Object.keys(wide).reduce((sum, name) => sum + entryBytes(name.slice(5)), 0);
    const bytes: Record<string, number> = { wide: wideBytes, one: entryBytes('a'), two: 2 * entryBytes('a') };
    for (let round = 0; round < 2; round += 1) {
      const read = await Promise.all(names.map((name) => trees.read(`${engine.head}:${name}`)));
      expect(read.map((content) => content.length)).toEqual(names.map((name) => bytes[name]));
    }
    await trees[Symbol.asyncDispose]();
    expect((await trees.read(`${engine.head}:wide`)).length).toBe(wideBytes);
    await trees[Symbol.asyncDispose]();
  });

  test('says what is not there or is something else, and goes on', async () => {
    await using engine = await makeEngine({ files: { c: 'C\n' } });
    const { trees } = engine.git;
    const [gone, other, there] = await Promise.allSettled([
      trees.read(`${engine.head}:gone`),
      trees.read(`${engine.head}:c`),
      trees.read(`${engine.head}^{tree}`),
    ]);
    expect(gone).toMatchObject({ reason: { message: expect.stringMatching(/no tree .*:gone: .* missing/) } });
    expect(other).toMatchObject({ reason: { message: expect.stringMatching(/no tree .*:c: \w+ blob 2/) } });
    expect(there.status).toBe('fulfilled');
    await trees[Symbol.asyncDispose]();
  });

  test('fails where git fails, with its reason, and can be asked again', async () => {
    await using engine = await makeEngine();
    const { trees, directory } = engine.git;
    const head = path.join(directory, 'HEAD');
    await rename(head, `${head}-away`);
    const name = `${engine.head}^{tree}`;
    await expect(trees.read(name)).rejects.toThrow(/could not read .*not a git repository/);
    await rename(`${head}-away`, head);
    expect((await trees.read(name)).includes('README.md')).toBe(true);
    await trees[Symbol.asyncDispose]();
  });
});

function write(engine: TestEngine, changes: Change[], parent = engine.head): ReturnType<typeof writeCommit> {
  const { git } = engine;
  return writeCommit({ git, changes, scope: {}, parent, ref: 'refs/x', message: 'Made\n', atMs: 5000 });
}

/** The commit that git's own importer makes. */
function importByGit(engine: TestEngine, parent: string, changes: readonly Change[]): string {
  const lines = changes.map((change) => {
    const name = cQuote(change.path).toString();
    if (change.kind !== 'symlink') return `D ${name}\n`;
    return `M 120000 inline ${name}\ndata ${change.target.length}\n${change.target.toString()}\n`;
  });
  const input =
    `commit refs/check\nmark :1\ncommitter bosun <bosun@localhost> 5 +0000\ndata 5\nMade\n\nfrom ${parent}\n` +
    `${lines.join('')}\nget-mark :1\n`;
  return execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: engine.git.directory, input })
    .toString()
    .trim();
}

async function isSound(engine: TestEngine): Promise<void> {
  const git = gitIn(engine.git.directory);
  const packs = path.join(engine.git.directory, 'objects', 'pack');
  const names = await readdir(packs);
  expect(names.filter((name) => !/^pack-\w+\.(pack|idx)$/.test(name))).toEqual([]);
  for (const name of names.filter((each) => each.endsWith('.idx')))
    await git('verify-pack', path.join(packs, name));
  await git('fsck', '--full', '--strict', '--no-dangling');
}

function link(name: string): Change {
  return { kind: 'symlink', path: Buffer.from(name), target: Buffer.from('to'), isNew: true };
}

function fileChange(name: string, source: string): Change {
  const [path_, from] = [Buffer.from(name), Buffer.from(source)];
  const size = statSync(source, { throwIfNoEntry: false })?.size ?? 0;
  return { kind: 'file', path: path_, source: from, mode: '100755', size, isNew: true };
}
