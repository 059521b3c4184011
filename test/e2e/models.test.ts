import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';

const WORKFLOW = `name: money
budget: { usd: 1 }
agents: { dev: { runtime: codex, model: nobody-knows-1 } }
tasks: { one: { agent: dev, prompt: Work. } }
`;

describe('before a run starts', () => {
  it('a budget in dollars that could not be held is refused', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    const { code, stderr } = await bosun(repository.path, 'run');
    expect(code).toBe(2);
    expect(stderr).toContain('the price is unknown for nobody-knows-1');
    expect(stderr).toContain('unknown-price: allow');
    expect((await bosun(repository.path, 'history', '--json')).stdout).toBe('');
  });

  it.each([
    [['--record', 'a', '--replay', 'b'], 'a run is recorded or replayed, not both'],
    [['--replay', 'nowhere.cassette'], 'nowhere.cassette'],
    [['--replay', 'bosun.yaml'], 'bosun.yaml'],
    [['--record', 'bosun.yaml'], 'something is on it already'],
    [['--record', 'no/such/place'], 'cannot record on'],
  ])('what is wrong with a cassette is said: %s', async (options, words) => {
    const workflow = WORKFLOW.replace('budget: { usd: 1 }\n', '');
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    const { code, stderr } = await bosun(repository.path, 'run', ...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect((await bosun(repository.path, 'history', '--json')).stdout).toBe('');
  });
});

describe('bosun budget and bosun steer', () => {
  it('say what is wrong with what was asked', async () => {
    const workflow = 'name: w\nbudget: { minutes: 5 }\ntasks: { one: { run: "false" } }\n';
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    await bosun(repository.path, 'run');
    const said = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await bosun(repository.path, ...args);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await said('budget', '--usd', 'ten')).toContain('--usd must be a number above 0, not "ten"');
    expect(await said('budget', '--usd', '0')).toContain('--usd must be a number above 0, not "0"');
    expect(await said('budget', '--usd', '1', '--agent', 'x', '--task', 'one')).toContain(
      '--agent and --task do not go together',
    );
    expect(await said('budget', '--usd', '1', '--agent', 'x')).toContain('run w-1 has no agent x');
    expect(await said('steer', 'one', 'hello')).toContain('run w-1 has ended already: it is failed');
    expect(await said('exec', '--runtime', 'codex', '--usd', '-1', 'Work.')).toContain(
      '--usd must be a number above 0',
    );
  });

  it('show and set limits, also where no engine drives the run', async () => {
    const workflow = 'name: w\nbudget: { usd: 5 }\ntasks: { one: { run: "false" } }\n';
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    await bosun(repository.path, 'run');
    const { stderr } = await bosun(repository.path, 'budget', '--usd', '7.5', '--minutes', '3');
    expect(stderr).toBe('run w-1: the run may use $7.50, 3 minutes; continue with: bosun resume w-1\n');
    expect((await bosun(repository.path, 'budget')).stdout).toBe(
      'w-1\n  the run: $0.00, 0 tokens, 0 requests  of $7.50, 3 minutes\n',
    );
    const { accounts } = JSON.parse((await bosun(repository.path, 'budget', '--json')).stdout) as {
      accounts: { account: string; limits: object }[];
    };
    expect(accounts).toMatchObject([{ account: 'run', limits: { usd: 7.5, minutes: 3 } }]);
  });
});

describe('bosun workspaces clean', () => {
  it('forgets conversations that nobody can go on with', async () => {
    await using repository = await makeRepository({
      files: { 'bosun.yaml': 'name: w\ntasks: { one: { run: "true" } }\n' },
    });
    await bosun(repository.path, 'run');
    const memory = path.join(repository.path, '.git/bosun/sandbox/memory/w-1.one');
    writeFileSync(memory, 'left behind');
    expect((await bosun(repository.path, 'workspaces', 'clean')).code).toBe(0);
    expect(existsSync(memory)).toBe(false);
  });
});
