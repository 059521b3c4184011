import { describe, expect, test } from 'vitest';
import { directoriesToJudge, vetChanges, type VetScope } from '../src/collect/vet.ts';
import type { Change } from '../src/system/git/change.ts';

const bytes = (path: string | Buffer): Buffer => (typeof path === 'string' ? Buffer.from(path) : path);
const file = (path: string | Buffer, isNew = true): Change => ({
  kind: 'file',
  path: bytes(path),
  source: Buffer.from('/layer'),
  mode: '100644',
  size: 1,
  isNew,
});
const remove = (path: string): Change => ({ kind: 'delete', path: bytes(path) });
const link = (path: string, target: string): Change => ({
  kind: 'symlink',
  path: bytes(path),
  target: bytes(target),
  isNew: true,
});

const BASE = [
  'README.md',
  'docs/a.md',
  'docs/b.md',
  'docs/deep/c.md',
  'src/a.ts',
  'src/lib/b.ts',
  'src/.env',
];
const filesBelow = (path: Buffer): Buffer[] =>
  BASE.filter((name) => name === path.toString() || name.startsWith(`${path.toString()}/`)).map(bytes);

function vet(
  changes: Change[],
  scope: VetScope = {},
): { accepted: string[]; refused: Record<string, string> } {
  const { accepted, outside, refused } = vetChanges(changes, scope, filesBelow);
  return {
    accepted: accepted.map(({ kind, path }) => (kind === 'delete' ? '-' : '') + path.toString()),
    refused: Object.fromEntries([...refused, ...outside].map(({ path, why }) => [path.toString(), why])),
  };
}
const refusal = (change: Change, scope: VetScope = {}): string | undefined =>
  Object.values(vet([change], scope).refused)[0];

describe('a change', () => {
  test('is accepted inside the globs and refused outside of them', () => {
    const scope = { write: ['src/**', 'docs/*.md'] };
    expect(vet([file('src/x/y'), file('docs/n.md'), file('docs/deep/n.md'), file('x')], scope)).toEqual({
      accepted: ['src/x/y', 'docs/n.md'],
      refused: { 'docs/deep/n.md': 'outside the scope', x: 'outside the scope' },
    });
  });

  test('is accepted anywhere where no write scope is declared', () => {
    expect(vet([file('a'), remove('docs'), link('b', 'a')]).accepted).toEqual(['a', '-docs', 'b']);
    expect(vet([file('a')], { shared: ['b'] }).accepted).toEqual(['a']);
  });

  test('is refused anywhere where the write scope is empty', () => {
    const changes = [file('a'), remove('README.md'), link('b', 'a'), remove('docs')];
    const { accepted, refused } = vet(changes, { write: [] });
    expect(accepted).toEqual([]);
    expect(Object.keys(refused)).toEqual(['a', 'README.md', 'b', 'docs/a.md', 'docs/b.md', 'docs/deep/c.md']);
    expect(refused['a']).toBe('outside the scope: the agent may change nothing');
  });

  test('of a shared file is accepted beside those of the write scope', () => {
    expect(vet([file('CHANGELOG.md'), file('x')], { write: [], shared: ['CHANGELOG.md'] })).toEqual({
      accepted: ['CHANGELOG.md'],
      refused: { x: 'outside the scope' },
    });
  });

  test('of a hidden file is refused, also inside the write scope', () => {
    const scope = { hide: ['**/.env', 'secrets/**'] };
    expect(refusal(file('src/.env'), scope)).toBe('hidden from the agent');
    expect(refusal(file('secrets/new'), { ...scope, write: ['**'] })).toBe('hidden from the agent');
    expect(refusal(remove('src/.env'), scope)).toBe('hidden from the agent');
  });

  test('below .bosun is left out unless a person named it, whatever the scope allows', () => {
    const settings = [
      '.bosun/config.yaml',
      '.bosun',
      '.BoSun/x',
      '.b\u200cosun/x',
      '.bosun./x',
      '.bosun\\x',
      '.boſun/x',
    ];
    for (const path of settings) {
      const wide = [{}, { write: ['**'], named: ['**'] }, { write: ['*', '.*/**'] }, { shared: ['**'] }];
      for (const scope of [...wide, { write: ['.bosun/**'], named: ['src/**'] }])
        expect(refusal(file(path), scope), `${path} with ${JSON.stringify(scope)}`).toMatch(/bosun's own/);
    }
    expect(refusal(remove('.bosun'), {})).toMatch(/bosun's own/);
    expect(directoriesToJudge([remove('.bosun'), remove('docs')], {})).toEqual([bytes('.bosun')]);
    expect(vet([file('.bosunrc'), file('src/.bosun/x')]).accepted).toEqual(['.bosunrc', 'src/.bosun/x']);
    const named = { write: ['src/**', '.bosun/**'], named: ['src/**', '.bosun/agents/**'] };
    expect(vet([file('.bosun/agents/a.md'), file('.bosun/config.yaml')], named)).toMatchObject({
      accepted: ['.bosun/agents/a.md'],
    });
    const { whole } = vetChanges([file('.bosun/config.yaml')], {}, filesBelow);
    expect(whole, 'nothing is lost: it is in the snapshot').toHaveLength(1);
  });

  test('of the workflow file, or of agents that bosun takes from Claude Code, is left out like those of .bosun', () => {
    const obeyed = [
      'bosun.yaml',
      'Bosun.YML',
      'bosun.json',
      '.claude/agents/a.md',
      '.CLAUDE/agents',
      '.claude',
      'src/bosun.yaml',
      'src/deep/BOSUN.json',
      'src/b\u200cosun.yml',
    ];
    for (const path of obeyed)
      for (const scope of [{}, { write: ['**'], named: ['**'] }])
        expect(refusal(file(path), scope), path).toMatch(/bosun's own.*has to name/);
    expect(refusal(remove('.claude/agents'), {})).toMatch(/bosun's own/);
    const free = ['.claude/settings.json', 'src/bosun.md', 'bosun.md', 'b', '.claudes/agents/x'];
    expect(vet(free.map((path) => file(path))).accepted).toEqual(free);
    const named = { write: ['bosun.yaml', '.claude/**'], named: ['bosun.yaml', '.claude/**'] };
    expect(vet([file('bosun.yaml'), file('.claude/agents/a.md')], named).accepted).toHaveLength(2);
    const below = { write: ['src/**', 'src/bosun.yaml'], named: ['src/**', 'src/bosun.yaml'] };
    expect(vet([file('src/bosun.yaml')], below).accepted).toEqual(['src/bosun.yaml']);
  });

  test('that no commit can hold stays refused, for its own reason', () => {
    const pipe: Change = { kind: 'refused', path: bytes('p'), why: 'a named pipe' };
    expect(vet([pipe])).toEqual({ accepted: [], refused: { p: 'a named pipe' } });
  });

  test('may have any bytes in its name', () => {
    const odd = Buffer.from([0x73, 0x72, 0x63, 0x2f, 0xff, 0x0a, 0x1b, 0x01]);
    const { accepted } = vetChanges([file(odd), file('src/a\nb/c')], { write: ['src/**'] }, filesBelow);
    expect(accepted.map(({ path }) => path)).toEqual([odd, bytes('src/a\nb/c')]);
  });
});

test('a snapshot may hold what only the scope does not allow', () => {
  const pipe: Change = { kind: 'refused', path: bytes('p'), why: 'a named pipe' };
  const changes = [file('src/a'), file('x'), link('y', '/etc'), file('.git/z'), pipe, remove('docs')];
  const { whole, outside, refused } = vetChanges(changes, { write: ['src/**', 'docs/*.md'] }, filesBelow);
  expect(whole.map(({ path }) => path.toString())).toEqual(['src/a', 'x', 'docs']);
  expect(outside.map(({ path }) => path.toString())).toEqual(['x', 'docs/deep/c.md']);
  expect(refused.map(({ path }) => path.toString())).toEqual(['y', '.git/z', 'p']);
});

describe('a rename', () => {
  test('is refused on the side that lies outside', () => {
    expect(vet([remove('README.md'), file('src/README.md')], { write: ['src/**'] })).toEqual({
      accepted: ['src/README.md'],
      refused: { 'README.md': 'outside the scope' },
    });
    expect(vet([remove('src/a.ts'), file('a.ts')], { write: ['src/**'] })).toEqual({
      accepted: ['-src/a.ts'],
      refused: { 'a.ts': 'outside the scope' },
    });
  });
});

describe('a deleted directory', () => {
  test('is accepted where everything in it is inside', () => {
    expect(vet([remove('src')], { write: ['src/**'] }).accepted).toEqual(['-src']);
    expect(vet([remove('src')], { write: ['src'] }).accepted).toEqual(['-src']);
    expect(vet([remove('docs/deep')], { write: ['docs/**/*.md'] }).accepted).toEqual(['-docs/deep']);
  });

  test('goes as far as the globs allow, and the rest of it stays', () => {
    expect(vet([remove('docs')], { write: ['docs/*.md'] })).toEqual({
      accepted: ['-docs/a.md', '-docs/b.md'],
      refused: { 'docs/deep/c.md': 'outside the scope' },
    });
  });

  test('stays where its own name matches and what is in it does not', () => {
    expect(vet([remove('docs/deep')], { write: ['docs/*'] })).toEqual({
      accepted: [],
      refused: { 'docs/deep/c.md': 'outside the scope' },
    });
    expect(refusal(remove('docs/a.md'), { write: ['docs/*'] })).toBeUndefined();
  });

  test('leaves a hidden file that is in it', () => {
    expect(vet([remove('src')], { hide: ['**/.env'] })).toEqual({
      accepted: ['-src/a.ts', '-src/lib/b.ts'],
      refused: { 'src/.env': 'hidden from the agent' },
    });
  });

  test('is looked into only where there is a scope, and a file never', () => {
    const file: Change = { kind: 'delete', path: bytes('README.md'), wasDirectory: false };
    const changes = [remove('docs'), file];
    expect(directoriesToJudge(changes, {})).toEqual([]);
    expect(directoriesToJudge(changes, { shared: ['CHANGELOG.md'] })).toEqual([]);
    expect(directoriesToJudge(changes, { write: [] })).toEqual([bytes('docs')]);
    expect(directoriesToJudge(changes, { hide: ['.env'] })).toEqual([bytes('docs')]);
  });

  test('comes before what replaces it', () => {
    const changes = [remove('src'), file('src/new.ts'), remove('docs'), link('docs', 'src')];
    expect(vet(changes, { write: ['src', 'docs'] }).accepted).toEqual([
      '-src',
      'src/new.ts',
      '-docs',
      'docs',
    ]);
  });

  test('that must stay cannot be replaced by a file', () => {
    const scope = { write: ['docs/*.md', '*'] };
    expect(vet([remove('docs'), file('docs'), file('docs/new.md')], scope)).toMatchObject({
      accepted: ['-docs/a.md', '-docs/b.md', 'docs/new.md'],
      refused: { docs: 'in the place of a directory that must stay' },
    });
  });

  test('cannot be made in the place of a file that must stay', () => {
    const changes = [remove('README.md'), file('README.md/x'), file('README.md/y/z')];
    expect(vet(changes, { write: ['README.md/*', 'README.md/y/**'] })).toEqual({
      accepted: [],
      refused: {
        'README.md': 'outside the scope',
        'README.md/x': 'in the place of a file that must stay',
        'README.md/y/z': 'in the place of a file that must stay',
      },
    });
  });
});

describe('a symbolic link', () => {
  test.each([
    ['a', 'b'],
    ['a', './b/c'],
    ['a/b', '../c'],
    ['a/b/c', '../../d/e'],
    ['a/b', '..'],
    ['a', '.'],
    ['a', '.gitignore'],
    ['a', '...'],
  ])('%s → %s stays in the workspace', (path, target) => {
    expect(refusal(link(path, target))).toBeUndefined();
  });

  test.each([
    ['a', '/etc/passwd', 'absolute'],
    ['a', '//x', 'absolute'],
    ['a', '..', 'leads out'],
    ['a', '../sibling', 'leads out'],
    ['a/b', '../../x', 'leads out'],
    ['a/b', './.././../x', 'leads out'],
    ['a', 'b/../../x', 'through "b"'],
    ['a/b/c', 'd/..', 'through "d"'],
    ['a', '.git', 'into .git'],
    ['a/b', '../.git/hooks', 'into .git'],
    ['a', 'sub/.GIT/config', 'into .git'],
    ['a', 'git~1/hooks', 'into .git'],
    ['.gitmodules', 'x', 'of this name'],
    ['sub/.GitModules ', 'x', 'of this name'],
  ])('%s → %s is refused, whatever the scope says', (path, target, why) => {
    expect(refusal(link(path, target))).toContain(why);
    expect(refusal(link(path, target), { write: ['**'] })).toContain(why);
  });
});

describe('a name that is .git to git', () => {
  test.each([
    '.git/config',
    '.git',
    'a/.git/hooks/pre-commit',
    '.GIT/x',
    '.git /x',
    '.git./x',
    '.git. ./x',
    'git~1/x',
    'GIT~1',
    '.g\u200cit/x',
    '\ufeff.git/x',
    '.git\u202e/x',
    '.git::$INDEX_ALLOCATION/x',
    'a\\.git\\hooks',
  ])('%j is refused', (path) => {
    expect(refusal(file(path))).toBe('a name that git keeps for itself');
    expect(refusal(remove(path), { write: ['**'] })).toBe('a name that git keeps for itself');
  });

  test.each(['.gitignore', '.github/x', 'git', 'a.git/x', 'git~2', '.git-blame-ignore-revs', '.gitx'])(
    '%j is not one',
    (path) => {
      expect(refusal(file(path))).toBeUndefined();
    },
  );
});
