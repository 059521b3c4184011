/** Runs that are left to the next engine that looks, and the engines that look. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventOf, Recorded } from '../src/contract/event.ts';
import { RunStarter } from '../src/doors/http/run-starter.ts';
import { Bosun, workflow } from '../src/index.ts';
import { perform } from '../src/operations/perform.ts';
import { startQueued } from '../src/operations/run.ts';
import { RunQueue } from '../src/run/run-queue.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import { bosun as command, start } from './fixtures/cli.ts';
import { userStateDirectory } from '../src/store/user-state.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const PATIENT = workflow({ name: 'patient', tasks: { go: { approve: 'Go on?' } } });
const writes = (name: string) => workflow({ name, tasks: { one: { run: 'cat README.md > copy.txt' } } });
const ANNA = { kind: 'person', name: 'anna' } as const;

async function eventsOf(bosun: Bosun, run: string): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for await (const page of bosun.events(run)) events.push(...page);
  return events;
}

/** As after amending it away, and `git gc`. */
async function loseHead({ git, path: at }: TestRepository): Promise<void> {
  await git('commit', '--amend', '--all', '--quiet', '-m', 'Amended');
  await git('reflog', 'expire', '--expire=now', '--all');
  await git('gc', '--quiet', '--prune=now');
  expect(await readdir(path.join(at, '.git/objects/pack'))).not.toEqual([]);
}

describe('a run in the queue', { timeout: 120_000 }, () => {
  beforeAll(() => void (process.env.BOSUN_CHECK_OUTPUT = '1'));
  afterAll(() => void delete process.env.BOSUN_CHECK_OUTPUT);

  it('is pending until an engine looks, and starts from what was committed when it was queued', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path, { name: 'door' });
    const { id } = await bosun.queue(writes('early'));
    expect(id).toBe('early-1');
    const head = await repository.git('rev-parse', 'HEAD');
    const { run, tasks } = await bosun.status(id);
    expect(run).toMatchObject({ state: 'pending', pending: { by: 'program door' }, baseCommit: head });
    expect(tasks.map(({ state }) => state)).toEqual(['ready']);
    expect((await bosun.history()).map(({ state }) => state)).toEqual(['pending']);
    expect(await bosun.atWork()).toEqual([]);
    expect((await bosun.report(id)).run.state).toBe('pending');
    await repository.write({ 'README.md': 'later\n' });
    await loseHead(repository);
    const waited = bosun.wait([id]);
    const told: string[] = [];
    const tell = ({ run: of, state }: { run: string; state: string }): void =>
      void told.push(`${of} ${state}`);
    expect(await bosun.work({ told: tell })).toEqual({ done: 1, failed: 0, cancelled: 0 });
    expect(told).toEqual(['early-1 running', 'early-1 done']);
    const [ended] = await waited;
    expect(ended).toMatchObject({ state: 'done', baseCommit: head });
    expect(ended!.idleMs).toBeGreaterThan(0);
    expect((await bosun.diff(id)).patch.toString()).toContain('+hello');
    expect(await bosun.work()).toEqual({ done: 0, failed: 0, cancelled: 0 });
  });

  it('keeps uncommitted changes as they were, and its own budget', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    await repository.write({ 'README.md': 'draft\n' });
    const { id } = await bosun.queue(writes('dirty'), { dirty: true, usd: 3 });
    await repository.write({ 'README.md': 'rewritten\n' });
    expect((await bosun.status(id)).run.limits).toEqual({ usd: 3 });
    await bosun.work();
    expect((await bosun.diff(id)).patch.toString()).toContain('+draft');
  });

  it('is not at work: it can be cancelled and given a budget, not paused, merged or pruned', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const { id, task } = await bosun.queueExec({ argv: ['touch', 'x'], usd: 1 });
    for (const refused of [
      () => bosun.pause(id),
      () => bosun.steer(task, 'hello', id),
      () => bosun.merge(id),
    ])
      await expect(refused()).rejects.toThrow('bosun work');
    await expect(bosun.retry(task, id)).rejects.toThrow('has not begun');
    const pruned = await bosun.prune({ keep: 0, interrupted: true, unmerged: true });
    expect(pruned).toMatchObject({ runs: [], kept: [{ id, why: expect.stringContaining('bosun cancel') }] });
    await bosun.clean();
    expect((await bosun.status(id)).run.state).toBe('pending');
    expect(await bosun.setBudget({ usd: 7 }, id)).toMatchObject({ isLive: false });
    const second = await bosun.queueExec({ argv: ['touch', 'y'] });
    expect((await bosun.cancel(second.id)).state).toBe('cancelled');
    expect(await bosun.work()).toEqual({ done: 1, failed: 0, cancelled: 0 });
    expect((await bosun.status(id)).run.limits).toEqual({ usd: 7 });
    const cancelled = await eventsOf(bosun, second.id);
    expect(cancelled.some(({ event }) => event.type === 'attempt.started')).toBe(false);
    // what was taken out of the queue can still be resumed
    expect((await (await bosun.resume(second.id)).finished).state).toBe('done');
  });

  it('is started by a resume, too', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const { id } = await bosun.queue(writes('direct'));
    expect((await (await bosun.resume(id)).finished).state).toBe('done');
    expect((await eventsOf(bosun, id)).some(({ event }) => event.type === 'run.resumed')).toBe(false);
    expect(await bosun.work()).toMatchObject({ done: 0 });
  });

  it('is written down with a thousand others in a few transactions, in the order of asking', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const asked = Array.from({ length: 1000 }, () => bosun.queueExec({ argv: ['true'] }));
    const ids = (await Promise.all(asked)).map(({ id }) => id);
    expect(ids).toEqual(Array.from(ids, (_, n) => `exec-${n + 1}`));
    const runs = await bosun.history(2000);
    expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['pending']));
    expect(new Set(runs.map(({ createdAtMs }) => createdAtMs)).size).toBeLessThan(100);
    await expect(
      repository.git('--git-dir=.git/bosun/git', 'rev-parse', 'refs/bosun/exec-1000/base'),
    ).resolves.toBe(await repository.git('rev-parse', 'HEAD'));
  });

  it('waits for a journal that another process has locked, and is there afterwards', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    await bosun.queueExec({ argv: ['true'] });
    const hold = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
      db.exec('BEGIN IMMEDIATE'); console.log('held'); setTimeout(() => db.exec('COMMIT'), 300)`;
    const holder = spawn(process.execPath, ['-e', hold, path.join(repository.path, '.git/bosun/journal.db')]);
    await once(holder.stdout, 'data');
    const { id } = await bosun.queueExec({ argv: ['true'] });
    expect((await bosun.history()).map((run) => run.id)).toEqual([id, 'exec-1']);
    await once(holder, 'close');
  });

  it('goes into the new journal where somebody has moved the old one away', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    await bosun.queueExec({ argv: ['true'] });
    await rm(path.join(repository.path, '.git/bosun'), { recursive: true });
    const { id } = await bosun.queueExec({ argv: ['true'] });
    expect((await bosun.status(id)).run.state).toBe('pending');
  });

  it('is written down before its Bosun is closed, which takes no more then', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    await bosun.queueExec({ argv: ['true'] });
    const queue = new RunQueue(repository.path);
    const workflow = writes('late');
    const run = { workflow, source: 'x', inputs: {}, dirty: true, queued: { by: 'anna' } };
    const under = queue.add(run);
    await queue[Symbol.asyncDispose]();
    await expect(Promise.race([under, Promise.resolve('not yet')])).resolves.toMatchObject({ id: 'late-1' });
    await expect(queue.add(run)).rejects.toMatchObject({ code: 'wrong-state' });
    await bosun.close();
    await expect(bosun.queue(workflow)).rejects.toThrow('was closed');
    await expect(bosun.queueExec({ argv: ['true'] })).rejects.toThrow('was closed');
    expect(await new Bosun(repository.path).history()).toHaveLength(2);
  });

  it('that is refused leaves nothing', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const needy = workflow({
      name: 'needy',
      inputs: { who: { required: true } },
      tasks: { a: { run: 'true' } },
    });
    await expect(bosun.queue(needy)).rejects.toMatchObject({ code: 'usage' });
    await expect(bosun.queueExec({ prompt: 'x'.repeat(10 * 1024 * 1024) })).rejects.toThrow('too long');
    await expect(bosun.queueExec({ argv: ['true'], unfenced: true } as never)).rejects.toThrow('unfenced');
    const reaching = workflow({
      name: 'reaching',
      tasks: { a: { run: 'true', scope: { network: ['example.com'] } } },
    });
    await expect(bosun.queue(reaching, { trust: false })).rejects.toMatchObject({ code: 'not-trusted' });
    await expect(bosun.history()).resolves.toEqual([]);
  });

  it('has nothing decided before an engine begins', () => {
    const event: EventOf<'run.created'> = {
      type: 'run.created',
      id: 'x-1',
      workflow: writes('x'),
      source: 'x',
      inputs: {},
      base: 'c',
      dirty: false,
    };
    const started: EventOf<'run.isolation'> = { type: 'run.isolation', kind: 'none', notes: [] };
    const direct = create(event, 0);
    expect(decide(direct)?.type).toBe('tasks.ready');
    const queued = create({ ...event, queued: { by: 'anna' } }, 0);
    expect(decide(queued)).toBeUndefined();
    apply(queued, { type: 'budget.set', account: 'run', limits: { usd: 1 }, by: 'anna' }, 5);
    expect(decide(queued)).toBeUndefined();
    apply(queued, started, 60_000);
    expect(decide(queued)?.type).toBe('tasks.ready');
    expect(queued.idleMs).toBe(59_995);
    const cancelled = create({ ...event, queued: { by: 'anna' } }, 0);
    apply(cancelled, { type: 'run.cancelling', mode: 'graceful', by: 'anna' }, 1);
    expect(decide(cancelled)?.type).toBe('task.finished');
  });
});

describe('an engine that looks', { timeout: 120_000 }, () => {
  it('takes the oldest first, and no more at once than it was told', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const ids = [];
    for (const name of ['b', 'a', 'c']) ids.push((await bosun.queue(writes(name))).id);
    const told: string[] = [];
    await bosun.work({ atOnce: 1, told: ({ run, state }) => void told.push(`${run} ${state}`) });
    expect(told).toEqual(ids.flatMap((id) => [`${id} running`, `${id} done`]));
  });

  it('drives no run that another has: two of them share twenty, each once', async () => {
    await using repository = await makeRepository();
    await using one = new Bosun(repository.path);
    await using two = new Bosun(repository.path);
    const queued = await Promise.all(Array.from({ length: 20 }, () => one.queueExec({ argv: ['true'] })));
    const [first, second] = await Promise.all([one.work({ atOnce: 3 }), two.work({ atOnce: 3 })]);
    expect(first.done + second.done).toBe(20);
    // nor one of which a list of a moment ago says that it waits
    expect(await startQueued({ cwd: repository.path, by: 'anna', run: queued[0]!.id })).toBeUndefined();
    for (const { id } of queued) {
      const types = (await eventsOf(one, id)).map(({ event }) => event.type);
      expect(types.filter((type) => type === 'run.isolation')).toHaveLength(1);
      expect(types.filter((type) => type === 'attempt.started')).toHaveLength(1);
    }
  });

  it('stays where it is told to, until the signal, and takes what is queued meanwhile', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const stop = new AbortController();
    const done = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const told = ({ run, state }: { run: string; state: string }): void => {
      if (state === 'done') done.resolve();
      if (run.startsWith('patient')) begun.resolve();
    };
    const worked = bosun.work({ stay: true, told, signal: stop.signal });
    await bosun.queueExec({ argv: ['true'] });
    await done.promise;
    const { id } = await bosun.queue(PATIENT);
    await begun.promise;
    stop.abort();
    expect(await worked).toEqual({ done: 1, failed: 0, cancelled: 1 });
    expect((await bosun.status(id)).run.state).toBe('cancelled');
  });

  it('ends a run that cannot start, says why, and goes on with the others', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const lost = await bosun.queue(writes('lost'));
    const head = await repository.git('rev-parse', 'HEAD');
    await repository.commit('Later', { 'README.md': 'later\n' });
    const fine = await bosun.queue(writes('fine'));
    const object = path.join('objects', head.slice(0, 2), head.slice(2));
    for (const git of ['.git', '.git/bosun/git']) await rm(path.join(repository.path, git, object));
    const told: { run: string; why?: string }[] = [];
    expect(await bosun.work({ atOnce: 1, told: (run) => void told.push(run) })).toMatchObject({
      done: 1,
      cancelled: 1,
    });
    expect(told[0]).toMatchObject({
      run: lost.id,
      why: expect.stringContaining(`commit ${head.slice(0, 8)}`),
    });
    const events = await eventsOf(bosun, lost.id);
    expect(
      events.some(({ event }) => event.type === 'run.noted' && event.text.includes('it was not started')),
    ).toBe(true);
    expect(events.some(({ event }) => event.type === 'attempt.started')).toBe(false);
    expect((await bosun.status(fine.id)).run.state).toBe('done');
  });

  it('drives no run by itself that another user queued, or an earlier version, and says once how to start it', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const { id } = await bosun.queue(writes('theirs'));
    const { id: other } = await bosun.queue(writes('older'));
    const journal = new DatabaseSync(path.join(repository.path, '.git/bosun/journal.db'));
    const sql = `UPDATE event SET body = json_remove(body, '$.queued.sealed') WHERE run = ? AND seq = 1`;
    journal.prepare(sql).run(other);
    journal.close();
    const state = path.join(repository.path, '.git/state-of-another');
    const told: string[] = [];
    const tell = ({ run, why }: { run: string; why?: string }): void => void told.push(`${run}: ${why}`);
    vi.stubEnv('XDG_STATE_HOME', state);
    expect(await bosun.work({ told: tell })).toEqual({ done: 0, failed: 0, cancelled: 0 });
    expect(told).toEqual([
      expect.stringMatching(/^theirs-1: it was not queued by you on this machine.*bosun resume theirs-1/),
      expect.stringMatching(/^older-1: .*bosun resume older-1/),
    ]);
    const trouble: string[] = [];
    {
      using starter = new RunStarter((text) => void trouble.push(text));
      for (let n = 0; n < 3; n++) await starter.changed(repository.path);
    }
    expect(trouble).toHaveLength(2);
    expect(trouble[0]).toContain(`run theirs-1 of ${repository.path} waits: it was not queued by you`);
    expect((await bosun.status(id)).run.state).toBe('pending');
    const own = await bosun.queue(writes('own'));
    expect(await bosun.work()).toMatchObject({ done: 1 });
    expect((await bosun.status(own.id)).run.state).toBe('done');
    vi.unstubAllEnvs();
    expect(await bosun.work()).toMatchObject({ done: 1 });
    expect((await (await bosun.resume(other)).finished).state).toBe('done');
  });

  it('leaves out a run that it cannot read, drives the others, and fails at the end', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const [poisoned, fine] = [await bosun.queue(writes('poisoned')), await bosun.queue(writes('fine'))];
    const journal = new DatabaseSync(path.join(repository.path, '.git/bosun/journal.db'));
    const sql = `UPDATE event SET body = '{"type":"later.event"}' WHERE run = ? AND seq = 1`;
    journal.prepare(sql).run(poisoned.id);
    journal.close();
    const told: string[] = [];
    const tell = ({ run, state }: { run: string; state: string }): void => void told.push(`${run} ${state}`);
    await expect(bosun.work({ atOnce: 1, told: tell })).rejects.toMatchObject({
      code: 'journal',
      message: expect.stringContaining('run poisoned-1 was left out: '),
    });
    expect(told).toEqual(['poisoned-1 pending', 'fine-1 running', 'fine-1 done']);
    expect((await bosun.status(fine.id)).run.state).toBe('done');
  });

  it('leaves what waits as it is where the machine fails, and says so', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const agent = { prompt: 'Work.', runtime: 'cli', command: 'true' } as const;
    const ids = [(await bosun.queueExec(agent)).id, (await bosun.queueExec(agent)).id];
    await repository.write({ '.bosun/config.yaml': 'budget: { usd-per-day: 5 }\n' });
    // the user's own state, but for what all runs share
    const state = path.join(repository.path, '.git/state');
    await mkdir(path.join(state, 'bosun/machine.db'), { recursive: true, mode: 0o700 });
    await copyFile(path.join(userStateDirectory(), 'queue.key'), path.join(state, 'bosun/queue.key'));
    vi.stubEnv('XDG_STATE_HOME', state);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(bosun.work({ atOnce: 1 })).rejects.toMatchObject({ code: 'system' });
    for (const id of ids) expect((await bosun.status(id)).run.state).toBe('pending');
    // a server says so, and tries again
    const told = Promise.withResolvers<string>();
    using starter = new RunStarter(told.resolve);
    starter.wake(repository.path);
    expect(await told.promise).toContain('cannot be enforced');
    vi.unstubAllEnvs();
    const ended = await bosun.wait(ids);
    expect(ended.map(({ state }) => state)).toEqual(['done', 'done']);
  });

  it.each(['before', 'after'])(
    'that fails right %s it begins leaves the run to the next one',
    async (when) => {
      await using repository = await makeRepository();
      await using bosun = new Bosun(repository.path);
      const { id } = await bosun.queue(writes('once'));
      const fault = (point: string): void => {
        if (point.startsWith(`${when}:run.isolation`)) throw new Error('the machine failed');
      };
      const around = { cwd: repository.path, by: ANNA, fault };
      await expect(perform('work', {}, around)).rejects.toThrow('the machine failed');
      const { state } = (await bosun.status(id)).run;
      expect(state).toBe(when === 'before' ? 'pending' : 'interrupted');
      if (state === 'pending') expect(await bosun.work()).toMatchObject({ done: 1 });
      else expect((await (await bosun.resume(id)).finished).state).toBe('done');
      const types = (await eventsOf(bosun, id)).map(({ event }) => event.type);
      expect(types.filter((type) => type === 'attempt.started')).toHaveLength(when === 'before' ? 1 : 2);
    },
  );
});

describe('bosun --queue and bosun work', { timeout: 120_000 }, () => {
  it('print ids alone, refuse what is not kept, and survive kill -9 of who works', async () => {
    await using repository = await makeRepository();
    const at = repository.path;
    expect(await command(at, 'exec', '--queue', '--unfenced', '--', 'true')).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(await command(at, 'exec', '--queue', '--', 'sleep', '1000')).toMatchObject({
      code: 0,
      stdout: 'exec-1\n',
    });
    expect((await command(at, 'exec', '--queue', '--', 'touch', 'x')).stdout).toBe('exec-2\n');
    expect((await command(at, 'status', 'exec-1')).stdout).toContain('is queued; start it with: bosun work');
    const worker = start(at, 'work', '--at-once', '1');
    await worker.prints('run exec-1 started');
    const bosun = new Bosun(at);
    await until(async () => (await bosun.status('exec-1')).run.pending === undefined);
    worker.child.kill('SIGKILL');
    await worker.finished;
    expect((await bosun.history()).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'exec-2 pending',
      'exec-1 interrupted',
    ]);
    const worked = await command(at, 'work', '--json');
    expect(worked.code).toBe(0);
    expect(
      worked.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { run: 'exec-2', state: 'running' },
      { run: 'exec-2', state: 'done' },
    ]);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
