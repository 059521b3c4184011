/** `bosun check` holds the paths of scopes against what is there: the last commit, and this machine. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { WorkflowFile, type WorkflowSource } from '../src/contract/workflow.ts';
import { hasGlobs, warnAboutGlobs } from '../src/definition/check/warn-about-globs.ts';
import { bosun, type Finished } from './fixtures/cli.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const FILES = {
  'src/main.ts': 'x\n',
  'src/server/api.ts': 'x\n',
  'docs/a.md': 'x\n',
  'config/secrets.json': 'x\n',
  '.gitignore': '.env\n',
};
const workflow = (scope: string): string =>
  `name: x\nagents:\n  dev: { runtime: cli, command: cat, scope: { ${scope} } }\ntasks: { a: { agent: dev, prompt: x } }\n`;

async function check(repository: TestRepository, scope: string): Promise<Finished> {
  await repository.write({ 'bosun.yaml': workflow(scope) });
  return bosun(repository.path, 'check');
}
async function warnings(repository: TestRepository, scope: string): Promise<string[]> {
  const { code, stderr } = await check(repository, scope);
  expect(code, stderr).toBe(0);
  return stderr.split('\n').filter((line) => line.startsWith('warning: '));
}

describe('a glob that matches nothing', () => {
  test('is warned about, with the name that may be meant', async () => {
    await using repository = await makeRepository({ files: FILES });
    expect(await warnings(repository, 'write: [scr/**, src/sevrer/**], hide: [config/secret.json]')).toEqual([
      'warning: bosun.yaml: "scr/**" in "scope.write" of agent "dev" matches no file of the last commit; fine if it means new files; did you mean "src"?',
      'warning: bosun.yaml: "src/sevrer/**" in "scope.write" of agent "dev" matches no file of the last commit; fine if it means new files; did you mean "src/server"?',
      'warning: bosun.yaml: "config/secret.json" in "scope.hide" of agent "dev" matches no file of the last commit, so nothing is hidden; did you mean "config/secrets.json"?',
    ]);
  });

  test('is told once, however many tasks name it', () => {
    const scope = { shared: ['changes/*.md'] };
    const tasks = { a: { run: 'x', scope }, b: { run: 'x', scope }, c: { run: 'x', scope } };
    expect(warnAboutGlobs(WorkflowFile.parse({ name: 'x', tasks }), [], () => false)).toEqual([
      '"changes/*.md" in "scope.shared" of 3 tasks and agents matches no file of the last commit; fine if it means new files',
    ]);
  });

  test('is fine where it names a new file, unless another one is called almost the same', () => {
    const files = ['cost.txt', 'a.txt', 'main.ts'].map((each) => ({ path: each, isLink: false }));
    const tell = (...write: string[]): string[] =>
      warnAboutGlobs(
        WorkflowFile.parse({ name: 'x', tasks: { a: { run: 'x', scope: { write } } } }),
        files,
        () => false,
      );
    expect(tell('out.txt', 'q.txt', 'NEW.md', 'docs/new.md')).toEqual([]);
    expect(tell('costs.txt', 'main.js', 'lib/**').map((told) => told.replace(/^.*new files/, ''))).toEqual([
      '; did you mean "cost.txt"?',
      '; did you mean "main.ts"?',
      '',
    ]);
  });

  test('is not one that matches, nor one of a file that git ignores', async () => {
    await using repository = await makeRepository({ files: FILES });
    await repository.write({ '.env': 'x\n' });
    const scope = 'write: [src/**, "**/*.md", "*"], shared: [docs/a.md], hide: [.env, "{config,x}/*.json"]';
    expect(await warnings(repository, scope)).toEqual([]);
  });

  test('is nothing to say where there is no commit', async () => {
    await using repository = await makeRepository({ files: FILES });
    await repository.git('update-ref', '-d', 'HEAD');
    expect(await warnings(repository, 'write: [scr/**]')).toEqual([]);
  });

  test('is warned about also in a workflow that is used, and not endlessly', () => {
    const nested = WorkflowFile.parse({
      name: 'inner',
      tasks: { a: { run: 'x', scope: { hide: Array.from({ length: 30 }, (_, n) => `no${n}`) } } },
    });
    const source: WorkflowSource = { name: 'x', tasks: { sub: { uses: 'inner.yaml' } } };
    const outer = { ...WorkflowFile.parse(source), nested: { 'inner.yaml': nested } };
    expect([hasGlobs(outer), hasGlobs(WorkflowFile.parse(source))]).toEqual([true, false]);
    const told = warnAboutGlobs(outer, [{ path: 'a', isLink: false }], () => false);
    expect(told[0]).toMatch(/^inner\.yaml: "no0" in "scope\.hide" of task "a" matches no file/);
    expect([told.length, told.at(-1)]).toEqual([21, '… and 10 more globs']);
  });

  test('is found quickly among many files and globs', () => {
    const files = Array.from({ length: 100_000 }, (_, n) => ({
      path: `d${n % 1000}/f${n}.ts`,
      isLink: false,
    }));
    const hide = Array.from({ length: 1000 }, (_, n) => `d${n}/nothing`);
    const write = Array.from({ length: 900 }, (_, n) => `**/x${n}`);
    const source: WorkflowSource = { name: 'x', tasks: { a: { run: 'x', scope: { hide, write } } } };
    const beganMs = performance.now();
    warnAboutGlobs(WorkflowFile.parse(source), files, () => false);
    expect(performance.now() - beganMs).toBeLessThan(5000);
  });
});

test('a link that is hidden is warned about: what it leads to is not', async () => {
  await using repository = await makeRepository({ files: FILES });
  await symlink('config', path.join(repository.path, 'vault'));
  await repository.git('add', 'vault');
  await repository.git('commit', '-qm', 'link');
  expect(await warnings(repository, 'hide: ["{docs,vault}"]')).toEqual([
    expect.stringContaining('matches vault, a symbolic link: the link is hidden, what it leads to is not'),
  ]);
});

describe('a path to read', () => {
  test('that is not on this machine is an error at its place, for check and for run', async () => {
    await using repository = await makeRepository({ files: FILES });
    const missing = await check(
      repository,
      'read: [/usr/bin, config, /opt/no/such, cnofig, "~/no-such-thing"]',
    );
    expect(missing.code).toBe(2);
    const lines = missing.stderr.split('\n').filter((line) => line.includes('scope.read'));
    expect(lines).toEqual([
      expect.stringMatching(
        /bosun\.yaml:3:\d+: "\/opt\/no\/such" in "scope\.read" of agent "dev" does not exist on this machine \(\/opt\/no\/such\); write where it lies/,
      ),
      expect.stringMatching(/"cnofig" in .* \(\/.*\/cnofig\); did you mean "config"\?/),
      expect.stringMatching(/"~\/no-such-thing" in .* \(\/[^~]*\/no-such-thing\)/),
    ]);
    const run = await bosun(repository.path, 'run');
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('/opt/no/such')]);
  });

  test('that shows what is hidden is an error; one beside it is none', async () => {
    await using repository = await makeRepository({ files: FILES });
    for (const read of ['.', 'config', path.dirname(repository.path)]) {
      const { code, stderr } = await check(repository, `read: ['${read}'], hide: [config/**]`);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('"config/**" of "hide" would hide nothing'),
      ]);
    }
    expect((await check(repository, 'read: [src], hide: [config/**]')).code).toBe(0);
  });

  test('that is no path is told of once', async () => {
    await using repository = await makeRepository({ files: FILES });
    const { stderr } = await check(repository, 'read: [../x]');
    expect(stderr.match(/scope\.read/g)).toHaveLength(1);
  });
});
