import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Paused, Status } from '../../src/contract/outputs.ts';
import { bosun, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

/** `wait` ends when a file is there that a test makes; the others are quick. */
const WORKFLOW = `
name: work
concurrency: 1
tasks:
  first: { run: 'echo begun; until test -e "$GO"; do sleep 0.05; done; echo 1 > first.txt', scope: { read: [GO_DIR], env: { GO: GO_DIR/go } } }
  second: { needs: [first], run: echo 2 > second.txt }
  other: { run: echo 3 > other.txt }
`;

const ME = userInfo().username;

interface World extends AsyncDisposable {
  repository: TestRepository;
  /** Lets the first command end. */
  go(): Promise<void>;
  typed(...words: string[]): ReturnType<typeof bosun>;
  status(): Promise<Status>;
}

async function makeWorld(workflow = WORKFLOW): Promise<World> {
  const outside = await makeRepository();
  const repository = await makeRepository({
    files: { 'bosun.yaml': workflow.replaceAll('GO_DIR', outside.path) },
  });
  return {
    repository,
    go: () => outside.write({ go: '' }),
    typed: (...words) => bosun(repository.path, ...words),
    status: async () => JSON.parse((await bosun(repository.path, 'status', '--json')).stdout) as Status,
    async [Symbol.asyncDispose]() {
      await repository[Symbol.asyncDispose]();
      await outside[Symbol.asyncDispose]();
    },
  };
}

/** Started in the background, its first command at work. */
async function begun(world: World): Promise<string> {
  const { stdout, stderr } = await world.typed('run', '--detach', '--trust');
  expect(stderr).toBe('');
  const id = stdout.trim();
  await expect
    .poll(async () => (await world.typed('logs', id)).stdout, { timeout: 10_000 })
    .toContain('│ begun');
  return id;
}

async function engineOf({ repository }: World, run: string): Promise<number> {
  const note = path.join(repository.path, `.git/bosun/runs/${run}/engine.json`);
  return (JSON.parse(await readFile(note, 'utf8')) as { pid: number }).pid;
}

describe('a paused run', () => {
  it('lets its commands end, starts nothing, says so everywhere, and continues when told', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    const paused = await world.typed('pause');
    expect(paused).toMatchObject({ code: 0, stdout: '' });
    expect(paused.stderr).toBe(
      `run ${id} is paused: 1 command runs to the end; continue with: bosun resume ${id}\n`,
    );
    const waiting = start(world.repository.path, 'wait', id);
    await waiting.prints(`run ${id} is paused (by ${ME},`);
    await world.go();
    // the command ends and its work is merged; what waited for it is ready, and is not started
    await expect
      .poll(async () => (await world.status()).run.counts, { timeout: 10_000 })
      .toEqual({
        done: 1,
        ready: 2,
      });
    const { run } = await world.status();
    expect(run).toMatchObject({ state: 'paused', paused: { by: ME } });
    expect(run.paused!.idleSinceMs).toBeGreaterThan(run.paused!.sinceMs);
    const { stdout } = await world.typed('status');
    expect(stdout).toMatch(/^⏸ work-1 paused after/);
    expect(stdout).toMatch(/⏸ paused +second/);
    expect(stdout).toMatch(/paused by \S+, .* ago; continue with: bosun resume work-1/);
    expect((await world.typed('history')).stdout).toContain('⏸ paused');
    expect((await world.typed('report')).stdout).toMatch(/paused after/);
    expect(JSON.parse((await world.typed('report', '--json')).stdout)).toMatchObject({
      run: { state: 'paused', paused: { by: ME } },
    });
    const again = await world.typed('pause', id);
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(/^run work-1 was paused already, by \S+, .* ago;/);
    const resumed = await world.typed('resume');
    expect(resumed).toMatchObject({ code: 0, stderr: `run ${id} continues: bosun attach ${id}\n` });
    expect(await waiting.finished).toMatchObject({ code: 0 });
    const { stdout: told } = await world.typed('logs', id);
    expect(told).toContain(`paused by ${ME}`);
    expect(told).toContain('runs to its end: a command cannot continue where it was stopped');
    expect(told).toContain(`continues, says ${ME}`);
    expect((await world.typed('pause', id)).stderr).toContain(`run ${id} cannot be paused: it is done`);
  });

  it('whose engine is killed is interrupted, and simply goes on when it is resumed', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    expect((await world.typed('pause')).code).toBe(0);
    process.kill(await engineOf(world, id), 'SIGKILL');
    await expect.poll(async () => (await world.status()).run.state, { timeout: 10_000 }).toBe('interrupted');
    expect((await world.status()).run.paused).toMatchObject({ by: ME });
    const paused = await world.typed('pause', id);
    expect(paused.code).toBe(2);
    expect(paused.stderr).toContain(`run ${id} cannot be paused: it was interrupted`);
    await world.go();
    expect(await world.typed('resume', id, '--trust')).toMatchObject({ code: 0 });
    expect((await world.status()).run).toMatchObject({ state: 'done' });
    expect((await world.status()).run).not.toHaveProperty('paused');
  });

  it('can be cancelled, and gone on with after that', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    expect((await world.typed('pause')).code).toBe(0);
    expect(await world.typed('cancel')).toMatchObject({ code: 0 });
    expect((await world.status()).run).toMatchObject({ state: 'cancelled' });
    expect((await world.typed('pause')).stderr).toContain('cannot be paused: it is cancelled');
    await world.go();
    expect(await world.typed('resume', id, '--trust')).toMatchObject({ code: 0 });
  });

  it('takes answers to its questions, whose time does not pass meanwhile', async () => {
    await using world = await makeWorld(`
name: ask
tasks:
  ship: { approve: { question: Ship it?, timeout: 2s, default: 'no' } }
  after: { needs: [ship], run: echo 1 > after.txt }
`);
    const { stdout } = await world.typed('run', '--detach');
    const id = stdout.trim();
    expect((await world.typed('pause')).code).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect((await world.status()).run.questions).toHaveLength(1);
    expect(await world.typed('answer', 'yes')).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await world.status()).run.counts, { timeout: 5000 })
      .toEqual({ done: 1, ready: 1 });
    expect(await world.typed('resume')).toMatchObject({ code: 0 });
    expect(await world.typed('wait', id)).toMatchObject({ code: 0 });
  });

  it('takes no processor while it waits', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    expect((await world.typed('pause')).code).toBe(0);
    await world.go();
    await expect.poll(async () => (await world.status()).run.counts.done, { timeout: 10_000 }).toBe(1);
    const pid = await engineOf(world, id);
    const ticksOf = async (): Promise<number> => {
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = await ticksOf();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await ticksOf()) - before).toBeLessThan(15); // of 300
    expect(await world.typed('cancel')).toMatchObject({ code: 0 });
  });
});

describe('a paused task', () => {
  it('is the only one that is not started, and goes on by its name', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    const paused = await world.typed('pause', 'second', '--json');
    expect(JSON.parse(paused.stdout) as Paused).toMatchObject({
      run: id,
      task: 'second',
      isAlready: false,
      attempts: [],
    });
    await world.go();
    await expect
      .poll(async () => (await world.status()).run.counts, { timeout: 10_000 })
      .toEqual({ done: 2, ready: 1 });
    const { stdout } = await world.typed('status');
    expect(stdout).toMatch(/^● work-1 running/);
    expect(stdout).toMatch(/⏸ paused +second +by \S+, .* ago/);
    expect((await world.typed('pause', 'first')).stderr).toContain(
      `task first of run ${id} is done: there is nothing to pause`,
    );
    expect((await world.typed('resume', 'other')).stderr).toContain(
      `task other of run ${id} is not paused: it is done`,
    );
    expect((await world.typed('pause', 'seconds')).stderr).toContain('there is no run seconds');
    expect((await world.typed('resume', 'second')).stderr).toBe(
      `task second of run ${id} continues: bosun attach ${id}\n`,
    );
    expect(await world.typed('wait', id)).toMatchObject({ code: 0 });
  });

  it('goes on with the whole run, whatever was paused by itself', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    expect((await world.typed('pause', 'second')).code).toBe(0);
    expect((await world.typed('pause')).code).toBe(0);
    expect((await world.typed('resume', 'other')).stderr).toContain(
      `task other is paused with all of run ${id}; continue with: bosun resume ${id}`,
    );
    await world.go();
    expect((await world.typed('resume', id)).stderr).toContain(`run ${id} continues`);
    expect(await world.typed('wait', id)).toMatchObject({ code: 0 });
  });

  it('within another that is paused continues with that one', async () => {
    await using world = await makeWorld(
      WORKFLOW.replace(/ {2}second:[^]*/, '  each: { for-each: [a, b], run: "echo 1 > ${{ each }}.txt" }\n'),
    );
    const id = await begun(world);
    expect((await world.typed('pause', 'each')).code).toBe(0);
    const refused = await world.typed('resume', 'each.1');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      `task each[a] is paused with each; continue with: bosun resume each --run ${id}`,
    );
    expect((await world.typed('pause', 'each.1')).stderr).toMatch(
      /was paused already, by .* ago; continue with: bosun resume each --run work-1/,
    );
    expect((await world.typed('resume', 'each')).code).toBe(0);
    expect((await world.typed('pause', 'each.1')).code).toBe(0);
    expect((await world.typed('pause', 'each')).code).toBe(0);
    expect((await world.typed('resume', 'each.1')).stderr).toBe(
      `task each.1 is not paused by itself any more, but each is: bosun resume each --run ${id}\n`,
    );
    await world.go();
    expect((await world.typed('resume', id)).code).toBe(0);
    expect(await world.typed('wait', id)).toMatchObject({ code: 0 });
  });

  it('alone makes the run wait for its engine when all of it is to continue', async () => {
    await using world = await makeWorld();
    const id = await begun(world);
    expect((await world.typed('pause', 'second')).code).toBe(0);
    const pid = await engineOf(world, id);
    process.kill(pid, 'SIGSTOP');
    const resumed = await world.typed('resume', id);
    process.kill(pid, 'SIGCONT');
    expect(resumed.stderr).toContain('it will continue as soon as it can');
    await world.go();
    expect(await world.typed('wait', id)).toMatchObject({ code: 0 });
  });

  it('that asks is told by wait, with what to type', async () => {
    await using world = await makeWorld(`
name: ask
tasks:
  ship: { approve: { question: Ship it?, timeout: 1m, default: 'no' } }
`);
    expect((await world.typed('run', '--detach')).code).toBe(0);
    const waiting = start(world.repository.path, 'wait');
    await waiting.prints(
      'ship of run ask-1 asks: Ship it?; answer with: bosun answer ship yes|no --run ask-1 (else no in',
    );
    expect((await world.typed('answer', 'ship', 'yes')).code).toBe(0);
    const { code, stdout, stderr } = await waiting.finished;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr.match(/asks:/g)).toHaveLength(1);
  });
});
