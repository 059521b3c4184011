/** What `bosun init` writes: each template is tried with an agent that is a script; what it reads may be a stranger's. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RUNTIMES } from '../src/contract/runtimes.ts';
import { TEMPLATE_NAMES, type TemplateName } from '../src/contract/templates.ts';
import { parseWorkflow } from '../src/definition/load.ts';
import { Bosun } from '../src/doors/library.ts';
import { findInstallCommand } from '../src/operations/beginning/install-command.ts';
import { findParts } from '../src/operations/beginning/parts.ts';
import { templateText } from '../src/operations/beginning/templates.ts';
import { findTestCommand } from '../src/operations/beginning/test-command.ts';
import { perform } from '../src/operations/perform.ts';
import { bosun } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'bosun-test-init-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const write = (files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
};

describe('the test command', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['npm', { 'package.json': '{"scripts":{"test":"vitest"}}' }, 'npm test'],
    ['pnpm', { 'package.json': '{"scripts":{"test":"x"}}', 'pnpm-lock.yaml': '' }, 'pnpm test'],
    ['yarn', { 'package.json': '{"scripts":{"test":"x"}}', 'yarn.lock': '' }, 'yarn test'],
    ['bun', { 'package.json': '{"scripts":{"test":"x"}}', 'bun.lock': '' }, 'bun run test'],
    ['cargo', { 'Cargo.toml': '[package]' }, 'cargo test'],
    ['go', { 'go.mod': 'module x' }, 'go test ./...'],
    ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, 'python3 -m pytest'],
    [
      'unittest',
      { 'tests/__init__.py': '', 'tests/test_a.py': 'import unittest\n' },
      'python3 -m unittest discover -s tests -t .',
    ],
    [
      'unittest without packages',
      { 'test/test_a.py': 'from unittest import TestCase\n' },
      'python3 -m unittest discover -s test',
    ],
    ['tests in Python alone', { 'tests/test_a.py': 'def test_a(): pass\n' }, 'python3 -m pytest'],
    ['maven', { 'pom.xml': '<project/>', mvnw: '' }, './mvnw -q test'],
    ['gradle', { 'build.gradle.kts': '' }, 'gradle test'],
    ['make', { Makefile: 'all:\n\ttrue\ntest: all\n\ttrue\n' }, 'make test'],
    ['a Makefile without tests', { Makefile: 'test := 1\nall:\n\ttrue\n' }, undefined],
    [
      'what npm init writes',
      { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      undefined,
    ],
    ['a script that is no text', { 'package.json': '{"scripts":{"test":{"a":1}}}' }, undefined],
    ['no JSON', { 'package.json': '{"scripts":' }, undefined],
    [
      'a file that is too large',
      { 'package.json': `{"scripts":{"test":"x"},"y":"${'y'.repeat(300_000)}"}` },
      undefined,
    ],
    ['nothing', {}, undefined],
  ])('of %s', (_, files, command) => {
    write(files);
    expect(findTestCommand(root)).toBe(command);
  });

  it('is never read from outside of the repository', () => {
    write({ 'elsewhere/package.json': '{"scripts":{"test":"x"}}', 'repository/x': '' });
    symlinkSync('../elsewhere/package.json', path.join(root, 'repository/package.json'));
    expect(findTestCommand(path.join(root, 'repository'))).toBeUndefined();
  });
});

it('parts are directories with plain names, and no links', () => {
  expect(findParts(root)).toEqual([]);
  write({
    'src/a/x': '',
    'src/b/x': '',
    'src/"] }/x': '',
    'src/${{ x }}/x': '',
    'src/*/x': '',
    'docs/x': '',
  });
  symlinkSync('/', path.join(root, 'src/c'));
  expect(findParts(root)).toEqual(['src/a', 'src/b']);
  rmSync(path.join(root, 'src'), { recursive: true });
  write({ 'core/x': '', 'node_modules/x/y': '', '.git/x': '' });
  expect(findParts(root)).toEqual(['core']);
});

it('tests in Python leave nothing compiled among the changes', () => {
  for (const [check, env] of [
    ['python3 -m pytest', { PYTHONDONTWRITEBYTECODE: '1' }],
    ['npm test', undefined],
  ] as const) {
    const filling = { agent: { runtime: 'codex' }, check, parts: [], copy: [] } as const;
    const { workflow } = parseWorkflow(templateText('fix-tests', filling), 'bosun.yaml');
    expect((workflow.tasks['fix'] as { env?: unknown }).env).toEqual(env);
  }
});

it('none of many parts is left out, and an agent of a part hears of the others', () => {
  const names = Array.from({ length: 22 }, (_, n) => `src/part-${String(n).padStart(2, '0')}`);
  write(Object.fromEntries(names.map((name) => [`${name}/x`, ''])));
  const parts = findParts(root);
  expect(parts).toEqual(names);
  const agent = { runtime: 'codex' } as const;
  const text = templateText('parallel-refactor', { agent, check: 'npm test', parts, copy: [] });
  const { workflow } = parseWorkflow(text, 'bosun.yaml');
  expect(Object.keys(workflow.tasks)).toEqual(['part', 'test']);
  expect(text.match(/^ {6}- "src\/part-/gm)).toHaveLength(22);
  expect(text).toContain(`in directories of their own: ${names.join(', ')}.`);
  expect(text).toContain('Make it in the rest of this repository');
});

describe('a template', () => {
  const cases = TEMPLATE_NAMES.flatMap((name) => RUNTIMES.map((runtime) => [name, runtime] as const));

  it.each(cases)('%s is a valid workflow with %s', (name, runtime) => {
    const isCommand = runtime === 'cli' || runtime === 'acp';
    const agent = { runtime, ...(isCommand && { command: 'my "agent": {} # x' }) };
    for (const check of ['npm test', `sh -c "a: 'b' # c"`, ...(name === 'fix-tests' ? [] : [undefined])]) {
      const filling = { agent, check, parts: ['src/a', 'src/b'], copy: ['node_modules'] };
      const text = templateText(name, filling);
      const { workflow, warnings } = parseWorkflow(text, 'bosun.yaml');
      expect(warnings).toEqual([]);
      expect(workflow.name).toBe(name);
      for (const made of Object.values(workflow.agents))
        expect(made).toMatchObject({ runtime, ...(isCommand && { command: agent.command }) });
    }
  });

  /** Plays all agents: what it is depends on the task. */
  const AGENT = `cat > /dev/null
case "$BOSUN_TASK" in
  sort) echo '{"kind":"bug","files":["src/a/code.txt"],"answer":"it says broken"}' > "$BOSUN_OUTPUT" ;;
  plan|review*) echo "looked at $BOSUN_TASK" ;;
  part.1) echo fixed > src/a/code.txt ;;
  part.2) echo fixed > src/b/code.txt ;;
  *) echo fixed > src/a/code.txt; echo fixed > src/b/code.txt ;;
esac
`;
  const tried: [TemplateName, string[], Record<string, string>][] = [
    ['hello', ['NOTES.md'], {}],
    ['fix-tests', ['src/a/code.txt'], {}],
    ['plan-build-review', ['src/a/code.txt'], { goal: 'a "better" ${{ x }} $(id)' }],
    ['parallel-refactor', ['src/a/code.txt', 'src/b/code.txt'], { goal: 'y' }],
    ['review', ['REVIEW.md'], {}],
    ['triage', ['src/a/code.txt'], { issue: 'it is broken' }],
  ];

  it('is tried, each', () => expect(tried.map(([name]) => name)).toEqual(TEMPLATE_NAMES));

  it.each(tried)('%s runs as it is written', { timeout: 60_000 }, async (template, changed, inputs) => {
    const test = 'test "$(cat src/a/code.txt)" = fixed';
    await using repository = await makeRepository({
      files: {
        'src/a/code.txt': 'broken\n',
        'src/b/code.txt': 'broken\n',
        'agent.sh': AGENT,
        Makefile: `test:\n\t${test.replaceAll('$', '$$$$')}\n`,
      },
    });
    const input = { template, agent: 'cli', command: 'sh agent.sh' } as const;
    const written = await perform('init', input, { cwd: repository.path, by: ANNA });
    expect(written).toMatchObject({
      written: true,
      template,
      check: 'make test',
      needs: Object.keys(inputs),
    });
    const library = new Bosun(repository.path);
    const { workflow, warnings } = await library.check();
    expect(warnings).toEqual([]);
    const { state } = await (await library.run(workflow, { inputs, trust: true })).finished;
    expect(state, JSON.stringify(await library.status())).toBe('done');
    const { files } = await library.diff();
    expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(changed));
  });
});

describe('bosun init', () => {
  it('takes the agents that are installed, or says that there are none', async () => {
    await using repository = await makeRepository({ files: { 'package.json': '{"scripts":{"test":"x"}}' } });
    const around = { cwd: repository.path, by: ANNA };
    const bin = path.join(root, 'bin');
    mkdirSync(bin);
    const tools = (process.env.PATH ?? '').split(':').filter((each) => existsSync(path.join(each, 'git')));
    symlinkSync(path.join(tools[0]!, 'git'), path.join(bin, 'git'));
    vi.stubEnv('PATH', bin);
    vi.stubEnv('HOME', root);
    await expect(perform('init', { template: 'review' }, around)).rejects.toThrow(
      'needs an agent, and none is installed',
    );
    await expect(perform('init', { agent: 'acp' }, around)).rejects.toThrow('needs --command');
    expect(existsSync(path.join(repository.path, 'bosun.yaml'))).toBe(false);
    writeFileSync(path.join(bin, 'codex'), '#!/bin/sh\n', { mode: 0o755 });
    expect(await perform('init', { template: 'fix-tests' }, around)).toMatchObject({
      agent: 'codex',
      check: 'npm test',
      installed: expect.arrayContaining(['codex']) as unknown,
    });
    expect(readFileSync(path.join(repository.path, 'bosun.yaml'), 'utf8')).toMatch(
      /runtime: codex[^]*check: npm test/,
    );
    // It stays as it is, whatever is asked for next.
    expect(await perform('init', {}, around)).toMatchObject({ written: false });
    await expect(perform('init', { template: 'review' }, around)).rejects.toThrow('is there already');
  });

  it('says that dependencies are missing, and a run then ends before any agent starts', async () => {
    const source = { scripts: { test: 'true' }, devDependencies: { linter: '1' } };
    await using repository = await makeRepository({
      files: {
        'package.json': JSON.stringify(source),
        'package-lock.json': '{}',
        '.gitignore': 'node_modules\n',
      },
    });
    const { path: cwd } = repository;
    const words = ['init', '--template', 'fix-tests', '--command', 'touch started'];
    const done = await bosun(cwd, ...words);
    expect(done.stderr).toContain('node_modules, which is not here yet; before the first run: npm ci\n');
    const failed = await bosun(cwd, 'run', '--trust');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/copy.*node_modules/);
    expect((await bosun(cwd, 'diff')).stdout).toBe('');
    mkdirSync(path.join(cwd, 'node_modules/linter'), { recursive: true });
    expect((await bosun(cwd, 'retry', 'fix', '--trust')).code).toBe(0);
    rmSync(path.join(cwd, 'bosun.yaml'));
    expect((await bosun(cwd, ...words)).stderr).not.toContain('not here yet');
  });

  it.each<[Record<string, string>, string | undefined]>([
    [{ 'package-lock.json': '' }, 'npm ci'],
    [{}, 'npm install'],
    [{ 'pnpm-lock.yaml': '' }, 'pnpm install'],
    [{ 'bun.lock': '' }, 'bun install'],
    [{ 'yarn.lock': '', '.pnp.cjs': '' }, undefined],
    [{ 'node_modules/x/y': '' }, undefined],
    [{ 'package.json': '{"scripts":{"test":"x"}}' }, undefined],
    [{ 'package.json': '{"dependencies":"x"}' }, undefined],
    [{ 'package.json': '{' }, undefined],
  ])('with %j says how dependencies come: %j', (files, command) => {
    write({ 'package.json': '{"dependencies":{"x":"1"}}', ...files });
    expect(findInstallCommand(root)).toBe(command);
  });

  it('needs a test command for fix-tests, and lists what there is', async () => {
    await using repository = await makeRepository();
    const refused = await bosun(repository.path, 'init', '--template', 'fix-tests', '--command', 'x');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('name it with --check');
    const listed = (await bosun(repository.path, 'init', '--list')).stdout;
    for (const name of TEMPLATE_NAMES) expect(listed).toMatch(new RegExp(`^${name} +\\w`, 'm'));
    const done = await bosun(repository.path, 'init', '--template', 'triage', '--command', 'sh a.sh');
    expect(done.stderr).toContain('run it with: bosun run --input issue="…"');
  });
});
