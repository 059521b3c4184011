import { describe, expect, it } from 'vitest';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

/** Minutes are a budget too, and need no model. */
function repositoryWith(budget: string): Promise<TestRepository> {
  const workflow = `name: slow\nbudget: ${budget}\ntasks:\n  wait:\n    run: sleep 30\n`;
  return makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': workflow } });
}

describe('a run whose budget is spent', { timeout: 60_000 }, () => {
  it('ends with exit code 4, and every view says why and what to type', async () => {
    await using repository = await repositoryWith('{ minutes: 0.02, enforce: hard }');
    const run = await bosun(repository.path, 'run');
    expect(run.code, run.stderr).toBe(4);
    expect(run.stderr).toContain('stopped: its budget is spent');
    expect(run.stdout).toContain('its budget is spent');
    expect(run.stdout).toContain('bosun budget slow-1 --minutes 0.04  raise its budget');
    const status = await bosun(repository.path, 'status');
    expect(status.stdout).toContain('■ slow-1 stopped: its budget is spent');
    expect(status.stdout).toContain(
      'continue with: bosun budget slow-1 --minutes 0.04 && bosun resume slow-1\n',
    );
    const json = await bosun(repository.path, 'run', '--json');
    expect(json.code).toBe(4);
    expect(eventsIn(json.stdout).at(-1)).toMatchObject({ state: 'cancelled', because: 'budget' });
  });

  it('is asked about in the live view, and stops with a no', async () => {
    await using repository = await repositoryWith('{ minutes: 0.02 }');
    await using terminal = await openTerminal(['run'], { cwd: repository.path, columns: 80 });
    const asking = await terminal.shows('[y]es [n]o');
    expect(asking).toMatch(/\? asking +wait/);
    expect(asking).toContain('? The run has used');
    await terminal.press('n');
    await terminal.shows('exit 4');
  });
});

it('an agent that is written in a task has a budget of its own, and is named by its task', async () => {
  const agent = (usd: number): string => `{ runtime: cli, command: 'true', budget: { usd: ${usd} } }`;
  const tasks = [1, 2].map((n) => `  t${n}: { agent: ${agent(n)}, prompt: Work. }\n`).join('');
  const files = { 'README.md': 'one\n', 'bosun.yaml': `name: two\ntasks:\n${tasks}  no: { run: 'false' }\n` };
  await using repository = await makeRepository({ files });
  const run = await bosun(repository.path, 'run');
  expect(run.code, run.stderr).toBe(1);
  const raised = await bosun(repository.path, 'budget', '--agent', 't2', '--usd', '5');
  expect(raised.stderr).toContain('run two-1: the agent of task t2 may use $5.00');
  const { stdout } = await bosun(repository.path, 'budget');
  expect(stdout).toContain('the agent of task t1: $0.00, 0 tokens, 0 requests  of $1.00');
  expect(stdout).toContain('the agent of task t2: $0.00, 0 tokens, 0 requests  of $5.00');
  const report = await bosun(repository.path, 'report', '--json');
  const { budgets } = JSON.parse(report.stdout) as { budgets: { account: string; limits: unknown }[] };
  expect(budgets.map(({ account, limits }) => [account, limits])).toEqual([
    ['agent:task:t1', [{ unit: 'usd', limit: 1, spent: 0 }]],
    ['agent:task:t2', [{ unit: 'usd', limit: 5, spent: 0 }]],
  ]);
});
