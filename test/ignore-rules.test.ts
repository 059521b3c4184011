import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rootRules } from '../src/workspace/ignore-rules.ts';

const RULES = [
  '*.log',
  'build/',
  '/top',
  'docs/*.md',
  'deep/**',
  '**/any/where',
  'a/**/z',
  '[ab]x?',
  '[!a]y',
  '[[:digit:]]*',
  'x[]-]y',
  'r[c-a]',
  '\\#hash',
  '\\!bang',
  'blank\\ ',
  'trailing   ',
  '# a comment',
  '',
  'open[',
  'end\\',
  'st**ars',
  'windows\r',
  '*.keep',
  '!very.keep',
  '/anchored/dir/',
];
const PATHS = [
  'x.log',
  'n/x.log',
  'x.logs',
  'build',
  'n/build',
  'top',
  'n/top',
  'docs/a.md',
  'docs/n/a.md',
  'deep/f',
  'deep/n/f',
  'any/where',
  'n/m/any/where',
  'a/z',
  'a/b/c/z',
  'b/a/z',
  'axe',
  'cxe',
  'by',
  'ay',
  '1',
  '9lives',
  'x]y',
  'x-y',
  'rc',
  'ra',
  '#hash',
  '!bang',
  'blank ',
  'blank',
  'trailing',
  'open[',
  'end\\',
  'stars',
  'stuffars',
  'windows',
  'my.keep',
  'very.keep',
  'anchored/dir',
  'n/anchored/dir',
  '# a comment',
];

test('a path is ignored where git ignores it', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-ignore-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  execFileSync('git', ['init', '-q', directory]);
  const text = RULES.join('\n');
  writeFileSync(path.join(directory, '.gitignore'), text);
  const asked = PATHS.flatMap((each) => [each, `${each}/`]);
  const told = execFileSync('git', ['check-ignore', '--no-index', '-nvz', '--stdin'], {
    cwd: directory,
    input: asked.join('\0'),
  });
  const fields = told.toString().split('\0');
  const theirs = asked.map((each, n) => [each, !['', '!'].includes(fields[4 * n + 2]!.charAt(0))]);
  const rules = rootRules([], text);
  const isIgnored = (each: string): boolean => {
    const names = each.split('/').filter((name) => name !== '');
    return names.some((_, n) =>
      rules.ignores(names.slice(0, n + 1).join('/'), n + 1 < names.length || each.endsWith('/')),
    );
  };
  expect(asked.map((each) => [each, isIgnored(each)])).toEqual(theirs);
});

test('of rules in several directories the nearest decides, and the user’s own come last', () => {
  const rules = rootRules(['*.tmp\n'], '*.o\n').within('lib', '!kept.o\n');
  expect(rules.ignores('lib/a.o', false)).toBe(true);
  expect(rules.ignores('lib/kept.o', false)).toBe(false);
  expect(rules.ignores('lib/a.tmp', false)).toBe(true);
});

test('rules beyond what is read ignore nothing', () => {
  const rules = rootRules([], '*.o\n').within('lib', `${'#'.repeat(200_000)}\n*.a\n`);
  expect(rules.ignores('lib/x.a', false)).toBe(false);
  expect(rules.ignores('lib/x.o', false)).toBe(true);
});
