/** What is required is held or nothing starts; what held is written down. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/contract/report.ts';
import { bosun, BOSUN, eventsIn, startProgram, type Finished } from '../fixtures/cli.ts';
import { withoutBubblewrap, withoutUserNamespaces } from '../fixtures/poor-machine.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const WORKFLOW = 'name: w\ntasks:\n  a: { run: "echo a > a.txt" }\n';
let configHome: string;

beforeAll(async () => {
  configHome = await mkdtemp(path.join(tmpdir(), 'bosun-config-'));
  await mkdir(path.join(configHome, 'bosun'));
  await writeFile(path.join(configHome, 'bosun/config.yaml'), 'isolation: required # here\n');
});
afterAll(() => rm(configHome, { recursive: true }));

function poor(
  repository: TestRepository,
  args: string[],
  env: Record<string, string> = {},
): Promise<Finished> {
  return startProgram(withoutBubblewrap([BOSUN, ...args]), repository.path, env).finished;
}

async function runsOf(repository: TestRepository): Promise<string[]> {
  const { stdout } = await bosun(repository.path, 'history', '--json');
  return stdout.split('\n').filter(Boolean);
}

async function repositoryWith(workflow: string): Promise<TestRepository> {
  return makeRepository({ files: { 'README.md': 'x\n', 'bosun.yaml': workflow } });
}

describe('isolation that is required, on a machine without bubblewrap', () => {
  it('by the workflow: nothing starts, and the message says what is missing and what to do', async () => {
    await using repository = await repositoryWith(`isolation: required\n${WORKFLOW}`);
    const { code, stderr } = await poor(repository, ['run']);
    expect(code).toBe(2);
    expect(stderr).toContain('nothing was started: isolation is required by bosun.yaml');
    expect(stderr).toContain('bubblewrap is not installed\n      → install the package bubblewrap');
    expect(stderr).toContain('or set isolation: best-effort in bosun.yaml');
    expect(await runsOf(repository)).toEqual([]);
    expect(await readdir(path.join(repository.path, '.git/bosun/sandbox/workspaces'))).toEqual([]);
    expect((await bosun(repository.path, 'run')).code).toBe(0);
  });

  it('by the repository or by the user: the strictest wins, also over a workflow that says otherwise', async () => {
    await using repository = await repositoryWith(`isolation: best-effort\n${WORKFLOW}`);
    const byUser = await poor(repository, ['exec', '--', 'true'], { XDG_CONFIG_HOME: configHome });
    expect(byUser.code).toBe(2);
    expect(byUser.stderr).toContain(`required by ${configHome}/bosun/config.yaml`);
    await repository.write({ '.bosun/config.yaml': 'isolation: required\n' });
    const byBoth = await poor(repository, ['run'], { XDG_CONFIG_HOME: configHome });
    expect(byBoth.code).toBe(2);
    expect(byBoth.stderr).toContain('.bosun/config.yaml and ');
    expect(await runsOf(repository)).toEqual([]);
  });

  it('holds for a run that is gone on with, too', async () => {
    await using repository = await repositoryWith('name: w\ntasks: { a: { run: exit 1 } }\n');
    expect((await bosun(repository.path, 'run')).code).toBe(1);
    await repository.write({ '.bosun/config.yaml': 'isolation: required\n' });
    for (const args of [['resume'], ['retry', 'a']]) {
      const { code, stderr } = await poor(repository, args);
      expect(code).toBe(2);
      expect(stderr).toContain('isolation is required by .bosun/config.yaml');
    }
    const { stdout } = await bosun(repository.path, 'logs', '--json');
    expect(eventsIn(stdout).filter(({ type }) => type === 'attempt.started').length).toBe(1);
  });

  it('names the rule that forbids user namespaces, and how to lift it', async () => {
    await using repository = await repositoryWith(`isolation: required\n${WORKFLOW}`);
    const argv = withoutUserNamespaces([BOSUN, 'run']);
    const { code, stderr } = await startProgram(argv, repository.path).finished;
    expect(code).toBe(2);
    expect(stderr).toContain('sudo sysctl -w user.max_user_namespaces=');
  });
});

describe('a run without fences', () => {
  it('says so loudly, at the start and in its report', async () => {
    await using repository = await repositoryWith(WORKFLOW);
    const { code, stdout, stderr } = await poor(repository, ['run']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^bosun: WARNING: NOT FENCED: bubblewrap is not installed; /m);
    expect(stdout).toContain('Isolation\n  NOT FENCED: bubblewrap is not installed');
  });

  it('is told of as such for good, also where another engine with fences ended it', async () => {
    await using repository = await repositoryWith(
      'name: w\ntasks: { a: { run: "test -e README.md && exit 1" } }\n',
    );
    await poor(repository, ['run']);
    await bosun(repository.path, 'resume');
    const { stdout } = await bosun(repository.path, 'report', '--format', 'json');
    const { isolation } = JSON.parse(stdout) as RunReport;
    expect(isolation[0]).toMatch(/^before it was resumed: NOT FENCED: bubblewrap is not installed/);
    expect(isolation[1]).toMatch(/^fenced: bubblewrap, own network/);
  });
});

describe('what held', () => {
  it('is in the journal before anything starts, and the report made from it is the saved one', async () => {
    await using repository = await repositoryWith(WORKFLOW);
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const types = eventsIn(stdout).map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual(['run.created', 'tasks.ready', 'run.isolation', 'attempt.started']);
    const made = await bosun(repository.path, 'report', '--format', 'json');
    const saved = await readFile(path.join(repository.path, '.git/bosun/runs/w-1/report.json'), 'utf8');
    expect(JSON.parse(made.stdout)).toEqual(JSON.parse(saved));
    const { isolation } = JSON.parse(saved) as RunReport;
    expect(isolation).toEqual([
      expect.stringMatching(/^fenced: bubblewrap, own network.*; memory.*processes.*disk watched$/),
    ]);
    const page = await readFile(path.join(repository.path, '.git/bosun/runs/w-1/report.html'), 'utf8');
    expect(page).toContain(isolation[0]);
  });
});

describe('the configuration', () => {
  it('that is wrong is told of with its place, before anything starts', async () => {
    await using repository = await repositoryWith(WORKFLOW);
    await repository.write({ '.bosun/config.yaml': '# ours\nisolaton: required\n' });
    const { code, stderr } = await bosun(repository.path, 'run');
    expect(code).toBe(2);
    expect(stderr).toContain('.bosun/config.yaml:2:1: unknown field "isolaton"');
    expect(stderr).toContain('did you mean "isolation"?');
    expect(await runsOf(repository)).toEqual([]);
  });
});
