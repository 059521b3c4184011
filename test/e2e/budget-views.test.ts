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
