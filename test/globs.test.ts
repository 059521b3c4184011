import * as fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { normalizeGlob, parseGlob } from '../src/base/glob-syntax.ts';
import { compileGlobs, compileTrees, covers, globsOverlap } from '../src/base/globs.ts';

const matching = (glob: string, ...paths: string[]): string[] => paths.filter(compileGlobs([glob]));

/** The same cases each time: a new one is found by changing it. */
const SEED = 20_260_101;

describe('a glob', () => {
  test.each<[glob: string, yes: string[], no: string[]]>([
    ['src/**', ['src/a', 'src/a/b', 'src/.hidden', 'src/a\nb/c'], ['src', 'srcs/a', 'lib/src/a']],
    ['docs/*.md', ['docs/a.md', 'docs/.md'], ['docs/a/b.md', 'docs/a.mdx', 'docs']],
    ['CHANGELOG.md', ['CHANGELOG.md'], ['docs/CHANGELOG.md', 'changelog.md', 'CHANGELOG-md']],
    ['src', ['src', 'src/a', 'src/a/b'], ['srcs', 'lib/src']],
    ['src/', ['src/a', 'src/a/b'], ['src', 'srcs']],
    ['packages/*', ['packages/a'], ['packages/a/b']],
    ['packages/*/', ['packages/a/b', 'packages/a/b/c'], ['packages/a']],
    ['**/*.ts', ['a.ts', 'a/b.ts', '.a/.b.ts'], ['a.tsx', 'a.ts/b']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/xb', 'b', 'a/b/c']],
    ['**', ['a', 'a/b', '.env'], []],
    ['.', ['a', 'a/b'], []],
    ['{src,test}/**/{a,b}.ts', ['src/a.ts', 'test/x/b.ts'], ['src/c.ts', 'lib/a.ts']],
    ['{a,b/{c,d}}', ['a', 'b/c', 'b/d'], ['b', 'b/a']],
    ['{a*/,b}', ['ax/y', 'b'], ['ax', 'c/y']],
    ['src/{a,}', ['src/a', 'src/b'], ['src', 'a']],
    ['a?[0-9][!x].c', ['ab1y.c', 'a-00.c'], ['ab1x.c', 'a/1y.c', 'abcy.c']],
    ['app/(group)/\\[id\\]', ['app/(group)/[id]'], ['app/group/i', 'app/(group)/i']],
    ['{{name}}/x', ['{{name}}/x'], ['name/x']],
    ['[[]id]', ['[id]'], ['i']],
    ['[]a]', [']', 'a'], ['b']],
    ['a**b', ['ab', 'axb'], ['a/b']],
  ])('%s matches what its page says', (glob, yes, no) => {
    expect(matching(glob, ...yes, ...no)).toEqual(yes);
  });

  test.each<[glob: string, why: string]>([
    ['', 'is empty'],
    ['/etc/passwd', 'absolute'],
    ['{a,/etc}', 'absolute'],
    ['~/x', 'absolute'],
    ['C:\\x', 'absolute'],
    ['../x', '".."'],
    ['a/../../x', '".."'],
    ['{a,..}/x', '".."'],
    ['.git', '.git'],
    ['.git/hooks/**', '.git'],
    ['a/.GIT/config', '.git'],
    ['{a,.git}/x', '.git'],
    ['git~1/x', '.git'],
    ['a\0b', 'NUL'],
    ['a'.repeat(1001), 'longer than 1000'],
    ['!a', '"!"'],
    ['src\\a', 'write "/"'],
    ['+(a|b)', '{a,b}'],
    ['{1..3}', '{1,2,3}'],
    ['{a,}', 'empty choice'],
    ['a[b', 'never closed'],
    ['[[:alpha:]]', '[a-z]'],
    ['[z-a]', 'backwards'],
    ['{a,b}'.repeat(10), 'more than 100'],
    [`{${'a,'.repeat(100)}b}`, 'more than 100'],
  ])('such as %j is refused: %s', (glob, why) => {
    expect(normalizeGlob(glob)).toEqual({ problem: expect.stringContaining(why) });
  });

  test('may have braces that are never closed', () => {
    expect(matching('{'.repeat(400) + 'a,b', '{'.repeat(400) + 'a,b', 'a')).toEqual([
      '{'.repeat(400) + 'a,b',
    ]);
  });

  test.each([
    ['./src/**', 'src/**'],
    ['src/', 'src/**'],
    ['a//b/./c', 'a/b/c'],
    ['.', '**'],
    ['./', '**'],
    ['.gitignore', '.gitignore'],
    ['.github/**', '.github/**'],
  ])('%s is kept as %s', (given, kept) => {
    expect(normalizeGlob(given)).toEqual({ glob: kept });
  });

  test('that would take a regular expression ages is matched at once', () => {
    const startMs = performance.now();
    expect(matching('*a'.repeat(100) + '*b', 'a'.repeat(255))).toEqual([]);
    expect(matching('**/a/'.repeat(100) + 'b', 'a/'.repeat(500) + 'c')).toEqual([]);
    expect(globsOverlap('*a'.repeat(400) + 'b', '*b'.repeat(400) + 'a')).toBeUndefined();
    expect(performance.now() - startMs).toBeLessThan(20_000);
  });
});

describe('two globs', () => {
  test.each<[a: string, b: string, example: string | undefined]>([
    ['src/**', 'src/a.ts', 'src/a.ts'],
    ['src/**', 'test/**', undefined],
    ['src/**', '*', undefined],
    ['src', '*', 'src'],
    ['*.md', 'README.*', 'README.md'],
    ['**/*.ts', 'src/*.js', undefined],
    ['**/a/**', 'x/y', 'x/y/a/x'],
    ['**/*.test.ts', 'src/**', 'src/x.test.ts'],
    ['a/*/c', 'a/b/*', 'a/b/c'],
    ['a/*/c', 'a/b/d', undefined],
    ['[a-f]', '[f-z]', 'f'],
    ['[a-f]', '[!a-f]', undefined],
    ['x[!a]', 'x?', 'xx'],
    ['{a,b}/c', '{b,d}/*', 'b/c'],
    ['*ab*', '*ba*', 'xbab'],
    ['?', '??', undefined],
  ])('%s and %s meet at %s', (a, b, example) => {
    const [one, other] = [globsOverlap(a, b), globsOverlap(b, a)];
    expect([one !== undefined, other !== undefined]).toEqual([example !== undefined, example !== undefined]);
    for (const found of [one, other, example]) {
      if (found !== undefined) expect([matching(a, found), matching(b, found)]).toEqual([[found], [found]]);
    }
  });

  test.each([
    ['*', '*', 'x'],
    ['**', '**', 'x'],
    ['docs/*.md', 'docs/*', 'docs/x.md'],
    ['src/**', 'src', 'src/x'],
  ])('%s and %s have %s as an example', (a, b, example) => {
    expect(globsOverlap(a, b)).toBe(example);
  });

  test.each<[outer: string, inner: string, isCovered: boolean]>([
    ['a', 'a', true],
    ['docs/**', 'docs/a/*.md', true],
    ['docs', 'docs/*.md', true],
    ['docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/**', false],
    ['docs/**', '**', false],
    ['**', '*.md', true],
    ['docs/**', 'documents/*', false],
    ['src/**', '{src/a.ts,secret}', false],
    ['src/**', 'src/{a,b}', true],
    ['src/*', 'src/{a,b}', true],
  ])('%s covers %s: %s', (outer, inner, isCovered) => {
    expect(covers(parseGlob(outer), parseGlob(inner))).toBe(isCovered);
  });
});

const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', 'c'), minLength: 1, maxLength: 4 });
const path = fc
  .array(
    name.filter((n) => n !== '.' && n !== '..'),
    { minLength: 1, maxLength: 4 },
  )
  .map((names) => names.join('/'));
const piece = fc.constantFrom('a', 'b', 'c', '.', '*', '?', '[ab]', '[!a]', '[b-c]', '{a,b}', '{a,b/c}');
const segment = fc.oneof(
  { weight: 1, arbitrary: fc.constant('**') },
  { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')) },
);
const glob = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'))
  .filter((text) => 'glob' in normalizeGlob(text));

/** The same meaning, in the words of another implementation. */
function reference(text: string): (path: string) => boolean {
  const isPlain = !/[*?[{]/.test(text);
  const patterns = isPlain ? [text, `${text}/**/*`] : [/(^|\/)\*\*$/.test(text) ? `${text}/*` : text];
  // It negates a class with "^" alone.
  return picomatch(
    patterns.map((pattern) => pattern.replaceAll('[!', '[^')),
    { dot: true },
  );
}

describe('random globs', () => {
  // Inside braces the two differ: a plain choice stands for its directory too, and `.` is no name.
  const simple = glob.filter(
    (text) => !text.includes('{') && !/(^|\/)\.(\/|$)/.test(text) && !text.includes('***'),
  );

  test('match what picomatch matches', () => {
    fc.assert(
      fc.property(simple, path, (text, at) => {
        fc.pre(!/\.(\/|$)/.test(at)); // a star matches nothing, too; picomatch has it otherwise before the end
        // Said only where it fails: to expect something costs more than to match it.
        const [ours, theirs] = [compileGlobs([text])(at), reference(text)(at)];
        if (ours !== theirs) expect({ text, at, matches: ours }).toEqual({ text, at, matches: theirs });
      }),
      { numRuns: 20_000, seed: SEED },
    );
  });

  test('never share a path without an overlap being found', () => {
    fc.assert(
      fc.property(glob, glob, fc.array(path, { minLength: 20, maxLength: 20 }), (a, b, paths) => {
        const example = globsOverlap(a, b);
        const [isA, isB] = [compileGlobs([a]), compileGlobs([b])];
        if (example === undefined) expect(paths.filter((at) => isA(at) && isB(at))).toEqual([]);
        else expect([isA(example), isB(example)]).toEqual([true, true]);
      }),
      { numRuns: 5000, seed: SEED },
    );
  });

  test('are kept as they are once normalized', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), (text) => {
        const once = normalizeGlob(text);
        if ('glob' in once) expect(normalizeGlob(once.glob)).toEqual(once);
      }),
      { seed: SEED },
    );
  });
});

describe('a directory is matched with all that could be in it', () => {
  test.each<[glob: string, yes: string[], no: string[]]>([
    ['src/**', ['src', 'src/a', 'src/a/b'], ['srcs', 'lib/src']],
    ['src', ['src', 'src/a'], ['lib']],
    ['src/*', [], ['src', 'src/a']],
    ['**/tests/**', ['tests', 'a/tests', 'a/tests/b'], ['a', 'a/test']],
    ['a/**/*.ts', [], ['a', 'a/b.ts']],
    ['packages/*/', ['packages/a', 'packages/a/b'], ['packages']],
    ['{a,b/*}', ['a', 'a/c'], ['b', 'b/c']],
    ['**', ['a', 'a/b'], []],
  ])('%s', (glob, yes, no) => {
    expect([...yes, ...no].filter(compileTrees([glob]))).toEqual(yes);
  });
});
