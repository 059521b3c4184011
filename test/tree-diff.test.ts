/** What differs between two trees, read without a process of git, is what git says. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeCommit } from '../src/collect/write-commit.ts';
import type { Change } from '../src/system/git/change.ts';
import { diffTrees, type TreeChange } from '../src/system/git/tree-diff.ts';
import { makeEngine, type TestEngine } from './fixtures/engine.ts';

/** Files and directories take each other's places. */
const NAMES = ['a', 'a-b', 'a.b', 'é', '\n"'];
const anyPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
const anyChange = fc.record({ path: anyPath, text: fc.option(fc.constantFrom('one', 'two')) });
const REF = 'refs/bosun/test/work@1';

describe.each([
  ['sha1', 20],
  ['sha256', 32],
] as const)('two trees of %s', (objectFormat, idLength) => {
  test('differ in what git says that they differ in', async () => {
    await using engine = await makeEngine({ objectFormat });
    let [before, parent] = [engine.head, engine.head];
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 8 }), async (edits) => {
        [before, parent] = [parent, await commit(engine, parent, edits)];
        const changes = await diffTrees(engine.git.trees, idLength, before, parent);
        expect(changes?.map(told).toSorted()).toEqual(await toldByGit(engine, before, parent));
      }),
      { numRuns: 40 },
    );
  });
});

test('trees that differ in many directories are left to git', async () => {
  await using engine = await makeEngine();
  const edits = Array.from({ length: 100 }, (_, n) => ({ path: [`in-${n}`, 'file'], text: 'one' }));
  const many = await commit(engine, engine.head, edits);
  expect(await diffTrees(engine.git.trees, 20, engine.head, many)).toBeUndefined();
});

test('trees that are large are left to git', async () => {
  await using engine = await makeEngine();
  const edits = Array.from({ length: 5000 }, (_, n) => ({ path: [`${'x'.repeat(200)}-${n}`], text: 'one' }));
  const large = await commit(engine, engine.head, edits);
  expect(await diffTrees(engine.git.trees, 20, engine.head, large)).toBeUndefined();
});

test('a damaged tree is refused', async () => {
  const reader = {
    read: (name: string) => Promise.resolve(Buffer.from(name.startsWith('a') ? '' : '100644 x')),
  };
  await expect(diffTrees(reader, 20, 'a', 'b')).rejects.toThrow('git gave a damaged tree');
});

interface Edit {
  path: string[];
  text: string | null;
}

async function commit({ git }: TestEngine, parent: string, edits: Edit[]): Promise<string> {
  const changes = edits.map(({ path: names, text }): Change => {
    const path = Buffer.from(names.join('/'));
    if (text === null) return { kind: 'delete', path };
    return { kind: 'symlink', path, target: Buffer.from(text), isNew: true };
  });
  const scope = { named: [] };
  return (await writeCommit({ git, scope, changes, parent, ref: REF, message: 'a change\n', atMs: 0 }))
    .commit;
}

function told({ from, to }: TreeChange): string {
  const side = (entry: TreeChange['from']): string => (entry ? `${entry.mode} ${entry.id}` : 'nothing');
  return `${side(from)} -> ${side(to)}`;
}

async function toldByGit({ git }: TestEngine, from: string, to: string): Promise<string[]> {
  const said = await git.text(['diff-tree', '-r', '--no-renames', '--full-index', from, to]);
  const lines = said === '' ? [] : said.split('\n');
  return lines
    .map((line) => {
      const [before, after, old, now] = line.slice(1).split(' ') as [string, string, string, string];
      const side = (mode: string, id: string): string => (mode === '000000' ? 'nothing' : `${mode} ${id}`);
      return `${side(before, old)} -> ${side(after, now)}`;
    })
    .toSorted();
}
