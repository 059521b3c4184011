/** Results of tasks become one tree; a conflict is a value. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { attemptRef, collect } from '../src/collect/collect.ts';
import { branchRef, joinBases, mergeResult, setBranch, type MergeOutcome } from '../src/merge/merge.ts';
import { mergeMessage, squashMessage, withCoAuthor } from '../src/merge/message.ts';
import type { Change } from '../src/system/git/change.ts';
import { makeEngine, type TestEngine } from './fixtures/engine.ts';
import { gitIn, type RepositoryOptions } from './fixtures/repository.ts';

const AT_MS = 1_700_000_000_000;
/** null deletes; a list is a symlink's target. */
type Edit = Record<string, string | Buffer | null | [string]>;

interface World extends AsyncDisposable {
  engine: TestEngine;
  /** The result of a task that started from `from`. */
  result(edit: Edit, from?: string): Promise<string>;
  merge(result: string, onConflict?: string): Promise<MergeOutcome>;
  shadow: string;
  head: string;
  show(commit: string): Promise<Record<string, string>>;
}

async function world(files: RepositoryOptions['files']): Promise<World> {
  const engine = await makeEngine(files === undefined ? {} : { files });
  let tasks = 0;
  const git = gitIn(engine.git.directory);
  const w: World = {
    engine,
    shadow: engine.head,
    head: engine.head,
    async result(edit, from = engine.head) {
      tasks += 1;
      const changes = await toChanges(engine, edit);
      const task = `t${tasks}`;
      const message = mergeMessage({ title: task, run: 'run', task, attempt: 1 });
      const ref = attemptRef('run', task, 1);
      return (await collect({ git: engine.git, changes, scope: {}, parent: from, ref, message, atMs: AT_MS }))
        .commit;
    },
    async merge(result, onConflict = 'fail') {
      const task = `t${tasks}`;
      const merged = await mergeResult({
        git: engine.git,
        base: engine.head,
        shadow: w.shadow,
        head: w.head,
        result,
        message: mergeMessage({ title: `Do ${task}`, run: 'run', task, attempt: 1, agent: 'dev' }),
        atMs: AT_MS,
        onConflict,
      });
      if (merged.kind === 'merged') {
        w.shadow = merged.shadow;
        w.head = merged.commit ?? w.head;
        expect(await engine.git.revParse(`${w.head}^{tree}`)).toBe(
          await engine.git.revParse(`${w.shadow}^{tree}`),
        );
      }
      return merged;
    },
    async show(commit) {
      const names = (await git('ls-tree', '-r', '--name-only', commit))
        .split('\n')
        .filter((name) => name !== '');
      return Object.fromEntries(
        await Promise.all(
          names.map(async (name) => [name, await git('cat-file', '-p', `${commit}:${name}`)]),
        ),
      );
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
  return w;
}

async function toChanges(engine: TestEngine, edit: Edit): Promise<Change[]> {
  const directory = await mkdtemp(path.join(engine.git.home, 'edit-'));
  return Promise.all(
    Object.entries(edit).map(async ([name, content], index): Promise<Change> => {
      const where = Buffer.from(name);
      if (content === null) return { kind: 'delete', path: where };
      if (Array.isArray(content))
        return { kind: 'symlink', path: where, target: Buffer.from(content[0]), isNew: false };
      const source = path.join(directory, String(index));
      await writeFile(source, content);
      return {
        kind: 'file',
        path: where,
        source: Buffer.from(source),
        mode: '100644',
        size: Buffer.byteLength(content),
        isNew: false,
      };
    }),
  );
}

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');

describe('merging a result', () => {
  test('says in the commit what its task cost, and unknown where nobody knows', () => {
    const costs = [0.0548, null, undefined].map((costUsd) =>
      mergeMessage({
        title: 't',
        run: 'r',
        task: 't',
        attempt: 1,
        ...(costUsd !== undefined && { costUsd }),
      }),
    );
    expect(costs.map((message) => message.trim().split('\n').at(-1))).toEqual([
      'Bosun-Cost: $0.0548',
      'Bosun-Cost: unknown',
      'Bosun-Attempt: 1', // a plain command
    ]);
  });

  test('titles a commit in one line of at most 72 letters, without control characters', () => {
    const titleOf = (title: string): string =>
      mergeMessage({ title, run: 'r', task: 'the-task', attempt: 1 }).split('\n')[0]!;
    expect(titleOf('Write a parser\u001b[31m\u202e\tfor\r\ndates')).toBe('Write a parser [31m for dates');
    expect(titleOf(' \n')).toBe('the-task');
    expect(titleOf('é'.repeat(72))).toBe('é'.repeat(72));
    expect(Array.from(titleOf('👍'.repeat(80)))).toEqual([...Array.from('👍'.repeat(71)), '…']);
  });

  test('is the work of the user with the help of bosun, also as one commit for all', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const author = { name: 'Ada', email: 'ada@example.com' };
    const result = await w.result({ 'one.txt': '1\n' });
    const request = { git: w.engine.git, base: w.engine.head, shadow: w.shadow, head: w.head, result };
    const merged = await mergeResult({
      ...request,
      message: 'Do it\n\nBosun-Run: r\n',
      author,
      atMs: 0,
      onConflict: 'fail',
    });
    const commit = merged.kind === 'merged' ? merged.commit! : '';
    const git = gitIn(w.engine.git.directory);
    expect(await git('log', '-1', '--format=%an <%ae> %cn%n%(trailers:only)', commit)).toBe(
      'Ada <ada@example.com> Ada\nBosun-Run: r\nCo-authored-by: bosun <bosun@localhost>\n',
    );
    const squashed = squashMessage('r-1', 'calculator', ['Design it', 'Build\nit']);
    expect(squashed).toBe('calculator: 2 tasks of run r-1\n\n- Design it\n- Build it\n\nBosun-Run: r-1\n');
    expect(withCoAuthor(squashed, { name: 'bosun', email: 'bosun@localhost' })).toBe(squashed);
  });

  test('puts one commit per task on a linear branch, with trailers', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const one = await w.result({ 'one.txt': '1\n' });
    expect(await w.merge(one)).toMatchObject({ kind: 'merged', shadow: one, result: one });
    const two = await w.result({ 'two.txt': '2\n' });
    const merged = await w.merge(two);
    expect(merged).toMatchObject({ kind: 'merged', result: two });
    await setBranch(w.engine.git, 'run', w.head);
    await setBranch(w.engine.git, 'run', w.head);
    const git = gitIn(w.engine.git.directory);
    expect(await git('log', '--format=%s %p', branchRef('run'))).toMatch(/^Do t2 \w+\nDo t1 \w+\nStart $/);
    expect(await git('log', '-1', '--format=%(trailers:only)', branchRef('run'))).toBe(
      'Bosun-Run: run\nBosun-Task: t2\nBosun-Agent: dev\nBosun-Attempt: 1\nBosun-Cost: $0.0000\n',
    );
    expect(await w.show(w.head)).toEqual({ 'a.txt': 'a', 'one.txt': '1', 'two.txt': '2' });
    expect(await w.engine.repository.git('branch', '--list')).toBe('* main');
  });

  test('makes no commit for a task that changed nothing or whose changes are there already', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    expect(await w.merge(w.engine.head)).toEqual({
      kind: 'merged',
      shadow: w.engine.head,
      result: w.engine.head,
    });
    const one = await w.result({ 'one.txt': '1\n' });
    await w.merge(one);
    expect(await w.merge(one)).toEqual({ kind: 'merged', shadow: one, result: one });
    expect(await w.merge(w.engine.head)).toEqual({ kind: 'merged', shadow: one, result: w.engine.head });
    const same = await w.result({ 'one.txt': '1\n', 'a.txt': 'a\n' });
    const merged = await w.merge(same);
    expect(merged).toMatchObject({ kind: 'merged' });
    expect(merged).not.toHaveProperty('commit');
  });

  test('merges changes to different places of one file, and follows a rename', async () => {
    await using w = await world({ 'a.txt': LINES });
    await w.merge(await w.result({ 'a.txt': null, 'b.txt': LINES.replace('line 2\n', 'first\n') }));
    await w.merge(await w.result({ 'a.txt': LINES.replace('line 25\n', 'second\n') }));
    const shown = await w.show(w.head);
    expect(Object.keys(shown)).toEqual(['b.txt']);
    expect(shown['b.txt']).toMatch(/first[^]*second/);
  });

  test('does not conflict with the results it started from', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const one = await w.result({ 'a.txt': 'one\n' });
    await w.merge(await w.result({ 'other.txt': 'o\n' }));
    await w.merge(one);
    const after = await w.result({ 'a.txt': 'after one\n' }, one);
    expect(await w.merge(after)).toMatchObject({ kind: 'merged' });
    expect(await w.show(w.head)).toEqual({ 'a.txt': 'after one', 'other.txt': 'o' });
  });

  test('gives a conflict as a value: which files, whose, and a commit with the markers', async () => {
    await using w = await world({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await w.merge(await w.result({ 'a.txt': 'one\n' }));
    await w.merge(await w.result({ 'b.txt': 'unrelated\n' }));
    const [shadow, head] = [w.shadow, w.head];
    const theirs = await w.result({ 'a.txt': 'three\n' });
    const merged = await w.merge(theirs, 'agent:fixer');
    expect(merged).toMatchObject({ kind: 'conflict', conflict: { files: ['a.txt'], with: ['t1'] } });
    expect([w.shadow, w.head]).toEqual([shadow, head]);
    if (merged.kind !== 'conflict') throw new Error('it merged');
    expect((await w.show(merged.marked))['a.txt']).toMatch(/^<<<<<<< [^]*one\n=======\nthree\n>>>>>>> /);
    // whoever settles it starts from there, and then it merges
    const settled = await w.result({ 'a.txt': 'both\n' }, merged.marked);
    expect(await w.merge(settled)).toMatchObject({ kind: 'merged' });
    expect(await w.show(w.head)).toEqual({ 'a.txt': 'both', 'b.txt': 'unrelated' });
  });

  const binary = (n: number): Buffer => Buffer.from([0, n, 255, 0, n]);
  const cases: [string, Edit, Edit, Edit][] = [
    ['both changed', { f: 'base\n' }, { f: 'ours\n' }, { f: 'theirs\n' }],
    ['both added', {}, { f: 'ours\n' }, { f: 'theirs\n' }],
    ['ours deleted', { f: 'base\n' }, { f: null }, { f: 'theirs\n' }],
    ['theirs deleted', { f: 'base\n' }, { f: 'ours\n' }, { f: null }],
    ['binary', { f: binary(1) }, { f: binary(2) }, { f: binary(3) }],
    ['links', { f: ['base'] }, { f: ['ours'] }, { f: ['theirs'] }],
    ['a link and a file', { f: 'base\n' }, { f: ['ours'] }, { f: 'theirs\n' }],
    ['a file and a directory', {}, { f: 'ours\n' }, { 'f/in.txt': 'theirs\n' }],
    ['a directory and a file', {}, { 'f/in.txt': 'ours\n' }, { f: 'theirs\n' }],
    ['two names for one file', { f: LINES }, { f: null, ours: LINES }, { f: null, theirs: LINES }],
  ];
  for (const [name, base, ours, theirs] of cases) {
    test(`takes the branch's or the task's version whole where it must: ${name}`, async () => {
      for (const policy of ['fail', 'ours', 'theirs'] as const) {
        await using w = await world({ 'README.md': 'r\n' });
        const start = await w.result({ ...base, keep: 'k\n' });
        await w.merge(start);
        await w.merge(await w.result(ours, start));
        const result = await w.result({ ...theirs, 'clean.txt': 'c\n' }, start);
        const merged = await w.merge(result, policy);
        if (policy === 'fail') {
          expect(merged).toMatchObject({ kind: 'conflict', conflict: { with: ['t2'] } });
          continue;
        }
        expect(merged).toMatchObject({ kind: 'merged', conflict: { resolved: policy } });
        const expected = await w.show(await w.result(policy === 'ours' ? ours : theirs, start));
        expect(await w.show(w.head)).toEqual({ ...expected, 'clean.txt': 'c' });
        // what comes after starts from the settled files
        expect(merged).toMatchObject({ result: w.shadow });
        const after = await w.result({ later: 'l\n' }, merged.kind === 'merged' ? merged.result : '');
        expect(await w.merge(after)).toMatchObject({ kind: 'merged' });
      }
    });
  }

  test('takes the wanted version also where the other side renamed the file', async () => {
    for (const policy of ['ours', 'theirs'] as const) {
      await using w = await world({ 'a.txt': LINES });
      await w.merge(await w.result({ 'a.txt': null, 'b.txt': LINES.replace('line 3\n', 'ours\n') }));
      await w.merge(await w.result({ 'a.txt': LINES.replace('line 3\n', 'theirs\n') }), policy);
      const shown = await w.show(w.head);
      expect(Object.keys(shown)).toEqual(['b.txt']);
      expect(shown['b.txt']).toContain(policy);
      expect(shown['b.txt']).not.toContain('<<<<');
    }
  });
});

describe('joining the results that a task needs', () => {
  test('gives the one commit, or the one that has the others in it, without making a new one', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const one = await w.result({ 'one.txt': '1\n' });
    const after = await w.result({ 'after.txt': '2\n' }, one);
    const git = w.engine.git;
    expect(await joinBases(git, [one], w.shadow)).toBe(one);
    expect(await joinBases(git, [one, one], w.shadow)).toBe(one);
    expect(await joinBases(git, [one, after, w.engine.head], w.shadow)).toBe(after);
  });

  test('merges them, the same way each time and in any order', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const results = [
      await w.result({ '1': '1\n' }),
      await w.result({ '2': '2\n' }),
      await w.result({ '3': '3\n' }),
    ];
    const joined = await joinBases(w.engine.git, results, w.shadow);
    expect(await w.show(joined!)).toEqual({ 'a.txt': 'a', '1': '1', '2': '2', '3': '3' });
    expect(await joinBases(w.engine.git, results.toReversed(), w.shadow)).toBe(joined);
    for (const result of results) expect(await w.engine.git.isAncestor(result, joined!)).toBe(true);
  });

  test('takes the head of the private history where it holds just these results, and not where it holds more', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const results: string[] = [];
    for (const name of ['1', '2', '3', '4']) {
      results.push(await w.result({ [name]: `${name}\n` }));
      await w.merge(results.at(-1)!);
    }
    expect(await joinBases(w.engine.git, results, w.shadow)).toBe(w.shadow);
    await w.merge(await w.result({ other: 'o\n' }));
    const joined = await joinBases(w.engine.git, results, w.shadow);
    expect(joined).not.toBe(w.shadow);
    expect(Object.keys(await w.show(joined!))).toEqual(['1', '2', '3', '4', 'a.txt']);
  });

  test('gives nothing where they conflict', async () => {
    await using w = await world({ 'a.txt': 'a\n' });
    const results = [await w.result({ 'a.txt': '1\n' }), await w.result({ 'a.txt': '2\n' })];
    expect(await joinBases(w.engine.git, results, w.shadow)).toBeUndefined();
  });
});
