import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bosun, eventsIn, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const withWorkflow = (workflow: string, files: Record<string, string> = {}): Promise<TestRepository> =>
  makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': workflow, ...files } });

describe('tasks that a task wrote', () => {
  const planner = (plan: string): string =>
    `
name: p
tasks:
  plan: { expand: true, run: 'echo plan > PLAN.md; cp plan.json $BOSUN_OUTPUT' }
`.concat(plan);

  it('fail the run when they fail, and are tried again on top of what the planner did', async () => {
    const tasks = { x: { run: 'cat PLAN.md && test $BOSUN_ATTEMPT -gt 1' } };
    await using repository = await withWorkflow(planner(''), { 'plan.json': JSON.stringify(tasks) });
    expect((await bosun(repository.path, 'run')).code).toBe(1);
    expect((await bosun(repository.path, 'retry', 'plan/x')).code).toBe(0);
  });

  it('may be none', async () => {
    await using repository = await withWorkflow(planner(''), { 'plan.json': '{}' });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
  });
});

describe('cancel', () => {
  it('ends a setup that takes long, and the run is cancelled', async () => {
    await using repository = await withWorkflow(
      'name: s\nworkspace: { setup: "echo setting up; sleep 600" }\ntasks: { a: { run: "true" } }\n',
    );
    const running = start(repository.path, 'run', '--json');
    await running.prints('setting up');
    running.child.kill('SIGINT');
    expect((await running.finished).code).toBe(3);
    expect((await bosun(repository.path, 'status')).stdout).toContain('cancelled');
  });

  it('works again after a retry of a cancelled run', async () => {
    await using repository = await withWorkflow('name: c\ntasks: { a: { run: "echo begun; sleep 600" } }\n');
    for (const args of [['run'], ['retry', 'a']]) {
      const running = start(repository.path, ...args, '--json');
      await running.prints('begun');
      expect((await bosun(repository.path, 'cancel', '--now')).code).toBe(0);
      const ended = await running.finished;
      expect([ended.code, eventsIn(ended.stdout).at(-1)]).toEqual([
        3,
        { type: 'run.finished', state: 'cancelled' },
      ]);
    }
  });
});

describe('merge', () => {
  it('takes no file of the user that git ignores', async () => {
    await using repository = await withWorkflow(
      `name: m\ntasks: { a: { run: 'echo nothing > .gitignore; echo KEY=changed > .env; mkdir -p d; echo x > d/e' } }\n`,
      { '.gitignore': '.env\nd\n' },
    );
    await repository.write({ '.env': 'KEY=precious\n', d: 'mine\n' });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const merge = await bosun(repository.path, 'merge');
    expect([merge.code, merge.stderr]).toEqual([2, expect.stringMatching(/would overwrite.*\.env/s)]);
    expect(merge.stderr).toMatch(/\bd\b/);
    expect(await readFile(path.join(repository.path, '.env'), 'utf8')).toBe('KEY=precious\n');
    expect(await readFile(path.join(repository.path, 'd'), 'utf8')).toBe('mine\n');
    expect(await repository.git('status', '--porcelain')).toBe('');
  });
});

describe('a run with --dirty', () => {
  it('merges with the changes it started from, once they are committed', async () => {
    await using repository = await withWorkflow(
      `name: d\ntasks: { a: { run: 'echo more >> new.txt; echo x >> README.md' } }\n`,
    );
    await repository.write({ 'new.txt': 'mine\n', 'README.md': 'one\nmine\n' });
    expect((await bosun(repository.path, 'run', '--dirty')).code).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(2);
    await repository.git('add', '--all');
    await repository.git('commit', '--quiet', '-m', 'Mine');
    const merge = await bosun(repository.path, 'merge');
    expect([merge.code, merge.stderr]).toEqual([0, expect.anything()]);
    expect(await readFile(path.join(repository.path, 'new.txt'), 'utf8')).toBe('mine\nmore\n');
    expect(await readFile(path.join(repository.path, 'README.md'), 'utf8')).toBe('one\nmine\nx\n');
    expect(await repository.git('status', '--porcelain')).toBe('');
  });
});

describe('values and names', () => {
  it('may be too long for a command: the task fails and says what to do', async () => {
    await using repository = await withWorkflow(
      `name: v\ntasks:\n  a: { run: 'head -c 200000 /dev/zero | tr "\\0" x > $BOSUN_OUTPUT' }\n  b: { needs: [a], run: 'echo "\${{ tasks.a.output }}"' }\n`,
    );
    const result = await bosun(repository.path, 'run');
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringMatching(/longer than 128 KB, pass it in a file/),
    ]);
  });

  it('may be as long as the file allows, at every level', async () => {
    const long = 'n'.repeat(60);
    const level = (name: string, task: string): string => `name: ${name}\ntasks:\n  ${long}: ${task}\n`;
    await using repository = await withWorkflow(level('top', '{ uses: one.yaml }'), {
      'one.yaml': level('one', '{ uses: two.yaml }'),
      'two.yaml': level('two', '{ uses: three.yaml }'),
      'three.yaml': level('three', `{ run: 'echo x > x.txt; echo "[1]" > $BOSUN_OUTPUT' }`),
    });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(existsSync(path.join(repository.path, 'x.txt'))).toBe(true);
  });

  it('a time-out of months does not fire at once', async () => {
    await using repository = await withWorkflow(
      'name: t\ntasks: { a: { run: "sleep 0.3", timeout: 90d } }\n',
    );
    expect((await bosun(repository.path, 'run')).code).toBe(0);
  });

  it('a task for each item can be there for failures', async () => {
    await using repository = await withWorkflow(
      `name: f\non-failure: continue\ntasks:\n  x: { run: 'exit 1' }\n  clean: { needs: [x], if: failed(), for-each: [a, b], run: 'echo \${{ each }} > \${{ each }}.txt' }\n`,
    );
    expect((await bosun(repository.path, 'run')).code).toBe(1);
    expect((await bosun(repository.path, 'diff', '--stat')).stdout).toMatch(/a\.txt[^]*b\.txt/);
  });
});

describe('an agent that settles conflicts', () => {
  it('is told of markers that it left, and may try again', async () => {
    const settle =
      'cat > prompt.txt; if grep -q "markers are left" prompt.txt; then echo settled > README.md; fi';
    await using repository = await withWorkflow(
      `name: k\nconcurrency: 1\non-conflict: agent:slow\nagents: { slow: { runtime: cli, command: '${settle}' } }\ntasks:\n  first: { run: 'echo first > README.md' }\n  second: { run: 'echo second > README.md' }\n`,
    );
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'README.md'), 'utf8')).toBe('settled\n');
  });
});

describe('a conflict without markers', () => {
  it('that an agent leaves as it is still brings the work of the task', async () => {
    await using repository = await withWorkflow(
      `name: k\nconcurrency: 1\non-conflict: agent:calm\nagents: { calm: { runtime: cli, command: 'cat > prompt.txt' } }\ntasks:\n  first: { run: 'rm README.md' }\n  second: { run: 'echo two >> README.md; echo more > more.txt' }\n`,
    );
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'more.txt'), 'utf8')).toBe('more\n');
    const prompt = await readFile(path.join(repository.path, 'prompt.txt'), 'utf8');
    expect(prompt).toMatch(/Yours:\n- second: echo two[^]*Theirs:\n- first: rm README\.md/);
    expect((await bosun(repository.path, 'report')).stdout).not.toContain('not settled');
  });
});
