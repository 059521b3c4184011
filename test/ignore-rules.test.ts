import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rootRules } from '../src/workspace/ignore/rules.ts';

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

/** Much like the list that GitHub proposes for Node, Python and editors. */
const NORMAL = `
logs *.log npm-debug.log* yarn-error.log* report.[0-9]*.[0-9]*.json pids *.pid *.seed *.pid.lock
lib-cov coverage *.lcov .nyc_output build/Release node_modules/ *.tsbuildinfo .npm *.tgz .env
.env.* !.env.example dist __pycache__/ *.py[codz] *$py.class *.so .Python *.egg-info/ *.manifest
*.mo .coverage.* [._]*.s[a-v][a-z] Session.vim *~ .idea/**/workspace.xml .vscode/*
!.vscode/settings.json **/tmp/*.bak
`.replaceAll(' ', '\n');

test('a normal .gitignore is asked about 200,000 files, a tenth of them with a tenth of the steps', () => {
  const rules = rootRules(['.DS_Store\n*.swp\n'], NORMAL, 10_000_000);
  let count = 0;
  for (let n = 0; n < 20_000; n += 1)
    if (rules.ignores(`packages/package-${n % 100}/src/component-${n}.test.ts${n % 2 ? '' : '.log'}`, false))
      count += 1;
  expect(count).toBe(10_000);
});

test('rules that take too long for one path, or for all together, are an error that says so', () => {
  const rule = `*${'a'.repeat(50)}[bc]\n`;
  expect(() => rootRules([], rule.repeat(1000)).ignores('a'.repeat(200), false)).toThrow(
    /\.gitignore rules .* take too long/,
  );
  const rules = rootRules([], rule.repeat(4), 100_000);
  expect(() => {
    for (let n = 0; n < 1000; n += 1) rules.ignores(`${'a'.repeat(100)}${n}`, false);
  }).toThrow(/\.gitignore rules .* take too long/);
  // to read them counts too
  const text = '*.o\n'.repeat(1000);
  const top = rootRules([], undefined, 1_000_000);
  expect(() => {
    for (let n = 0; n < 100; n += 1) top.within(`d${n}`, text);
  }).toThrow(/take too long/);
});
