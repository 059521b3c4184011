/** Agents that a person or a program starts from outside: as children of a task, on what it left, or on their own. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventOf, EventType } from '../src/contract/event.ts';
import { Bosun, BosunError, workflow } from '../src/index.ts';
import { spawnedWorkflow } from '../src/operations/spawned-workflow.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { bosun as command, start } from './fixtures/cli.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

/** The lead goes on until a child of it has ended, so that nothing depends on how fast anybody is. */
const FAMILY = workflow({
  name: 'family',
  agents: {
    lead: {
      runtime: 'cli',
      command:
        'cat > src/lead.txt; until bosun agent children | grep -q " done"; do sleep 0.1; done; echo led',
      scope: { write: ['src/**'] },
    },
    hand: { runtime: 'cli', command: 'read -r name; echo "$name" > "src/$name.txt"' },
  },
  tasks: {
    gate: { approve: 'Begin?' },
    build: { needs: ['gate'], agent: 'lead', prompt: 'Build it.' },
    lint: { run: 'true' },
  },
});

const FILES = { 'README.md': 'hello\n', 'src/a.txt': 'a\n' };

async function of<T extends EventType>(bosun: Bosun, run: string, type: T): Promise<EventOf<T>[]> {
  const found: EventOf<T>[] = [];
  for await (const page of bosun.events(run))
    for (const { event } of page) if (event.type === type) found.push(event as EventOf<T>);
  return found;
}

/** With its lead at work. */
async function familyAtWork(bosun: Bosun) {
  const live = await bosun.run(FAMILY);
  await until(async () => (await bosun.status(live.id)).run.questions.length > 0);
  live.answer('gate', 'yes');
  await until(async () => (await stateOf(bosun, live.id, 'build')) === 'running');
  return live;
}

async function stateOf(bosun: Bosun, run: string, task: string): Promise<string | undefined> {
  return (await bosun.status(run)).tasks.find(({ id }) => id === task)?.state;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

function fileIn({ git }: TestRepository, run: string, name: string): Promise<string> {
  return git('--git-dir=.git/bosun/git', 'show', `bosun/${run}:${name}`);
}

describe('an agent that is started from outside', { timeout: 120_000 }, () => {
  beforeAll(() => void (process.env.BOSUN_CHECK_OUTPUT = '1'));
  afterAll(() => void delete process.env.BOSUN_CHECK_OUTPUT);

  it('becomes a child of a task at work, from any process, within what that may do', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const live = await familyAtWork(bosun);
    const other = new Bosun(repository.path, { name: 'door' });
    const parent = `${live.id}/build`;
    await expect(other.spawnAgent(parent, 'hand', 'x', { write: ['other/**'] })).rejects.toThrow(
      'more than its parent may change',
    );
    await expect(other.spawnAgent(parent, 'nobody', 'x')).rejects.toThrow('"nobody", which does not exist');
    await expect(other.spawnAgent(parent, 'hand', '  ')).rejects.toThrow('must have text');
    await expect(other.spawnAgent(parent, 'hand', 'x'.repeat(10 * 1024 * 1024))).rejects.toThrow('too long');
    expect(await of(bosun, live.id, 'child.requested')).toEqual([]);
    const spawned = await other.spawnAgent(parent, 'hand', 'one', { name: 'first', usd: 1 });
    expect(spawned).toEqual({ run: live.id, parent, task: 'build/first', state: 'active', notes: [] });
    expect((await live.finished).state).toBe('done');
    const [asked, ...more] = await of(bosun, live.id, 'child.requested');
    expect(asked).toMatchObject({
      by: 'program door',
      child: { budget: { usd: 1 }, scope: { write: ['src/**'] } },
    });
    expect(more).toEqual([]);
    expect(await fileIn(repository, live.id, 'src/one.txt')).toBe('one');
    expect(await bosun.agents(live.id)).toEqual([
      { run: live.id, task: 'build', role: 'lead', state: 'completed', taskState: 'done' },
      { run: live.id, task: 'build/first', role: 'hand', parent, state: 'completed', taskState: 'done' },
    ]);
  });

  it('waits for its parent to be at work where it is left in the queue, whoever drives the run by then', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const { id } = await bosun.queue(FAMILY);
    const parent = `${id}/build`;
    await expect(bosun.spawnAgent(parent, 'hand', 'one')).rejects.toThrow(`run ${id} is pending; --queue`);
    const queued = await bosun.spawnAgent(parent, 'hand', 'one', { queue: true });
    expect(queued).toEqual({ run: id, parent, state: 'pending', notes: [] });
    const asked = { run: id, parent, role: 'hand', state: 'pending' };
    expect((await bosun.agents(id)).at(-1)).toEqual(asked);
    const worked = bosun.work();
    await until(async () => (await bosun.status(id)).run.questions.length > 0);
    expect((await bosun.agents(id)).at(-1)).toEqual(asked);
    await expect(bosun.spawnAgent(parent, 'hand', 'two')).rejects.toThrow(
      'build of run family-1 is waiting; --queue',
    );
    await bosun.answer('yes', 'gate', id);
    expect(await worked).toMatchObject({ done: 1 });
    expect((await bosun.agents(id)).map(({ task, state }) => `${task} ${state}`)).toEqual([
      'build completed',
      'build/spawned-1 completed',
    ]);
    expect(await of(bosun, id, 'child.requested')).toHaveLength(1);
  });

  it('is a child of the next attempt where the engine of its parent is gone, and not of the lost one', async () => {
    await using repository = await makeRepository({ files: FILES });
    const broken = new Bosun(repository.path);
    let isUp = true;
    const fault = (point: string): void => {
      if (point.includes('attempt.workspace') && isUp) throw new Error('the machine failed');
    };
    const alone = workflow({
      ...FAMILY,
      tasks: { build: { ...FAMILY.tasks['build']!, needs: [] } },
    });
    const live = await broken.run(alone, { fault });
    await expect(live.finished).rejects.toThrow('the machine failed');
    isUp = false;
    await using bosun = new Bosun(repository.path);
    await expect(bosun.spawnAgent(live.id, 'hand', 'one')).rejects.toThrow('is interrupted; --queue');
    await bosun.spawnAgent(live.id, 'hand', 'one', { queue: true });
    expect((await (await bosun.resume(live.id)).finished).state).toBe('done');
    const asked = await of(bosun, live.id, 'child.requested');
    expect(asked.map(({ attempt }) => attempt)).toEqual([2]);
    expect(await fileIn(repository, live.id, 'src/one.txt')).toBe('one');
  });

  it('that waits is refused in the journal when the run is cancelled', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const live = await bosun.run(FAMILY);
    await bosun.spawnAgent(`${live.id}/build`, 'hand', 'one', { queue: true });
    live.cancel('graceful');
    await live.finished;
    expect(await of(bosun, live.id, 'child.refused')).toMatchObject([{ why: 'the run is being cancelled' }]);
    // and where nobody drives it
    const queued = await bosun.queue(FAMILY);
    await bosun.spawnAgent(`${queued.id}/build`, 'hand', 'one', { queue: true });
    await bosun.cancel(queued.id);
    expect(await of(bosun, queued.id, 'child.refused')).toHaveLength(1);
    expect((await bosun.agents(queued.id)).map(({ state }) => state)).toEqual(['failed']);
  });

  it('is refused where 200 others wait already', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const { id } = await bosun.queue(FAMILY);
    await bosun.spawnAgent(`${id}/build`, 'hand', 'x', { queue: true });
    await using store = openSqliteStore(path.join(repository.path, '.git/bosun/journal.db'));
    const { request } = (await store.requests(id))[0]!;
    for (let n = 1; n < 200; n++) await store.request(id, request);
    const more = bosun.spawnAgent(`${id}/build`, 'hand', 'x', { queue: true });
    await expect(more).rejects.toMatchObject({ code: 'busy' });
    expect(await bosun.agents(id)).toHaveLength(201);
  });

  it('finds no more room than there is, however many ask at the same time', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const { id } = await bosun.queue(FAMILY);
    await bosun.spawnAgent(`${id}/build`, 'hand', 'x', { queue: true });
    await using store = openSqliteStore(path.join(repository.path, '.git/bosun/journal.db'));
    const { request } = (await store.requests(id))[0]!;
    for (let n = 1; n < 198; n++) await store.request(id, request);
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, () => bosun.spawnAgent(`${id}/build`, 'hand', 'x', { queue: true })),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await store.requests(id)).toHaveLength(200);
  });

  it('is taken back where nobody waits for it any more, and where its run ends before it is taken', async () => {
    await using repository = await makeRepository({ files: FILES });
    await repository.write({ 'bosun.yaml': 'name: work\ntasks: { build: { run: sleep 60 } }\n' });
    const engine = start(repository.path, 'run');
    onTestFinished(() => void engine.child.kill('SIGKILL'));
    await using bosun = new Bosun(repository.path);
    await until(async () => (await stateOf(bosun, 'work-1', 'build').catch(() => '')) === 'running');
    engine.child.kill('SIGSTOP');
    await using store = openSqliteStore(path.join(repository.path, '.git/bosun/journal.db'));
    const isAsked = async (): Promise<boolean> => (await store.requests('work-1')).length > 0;

    const left = new AbortController();
    const first = bosun.spawnAgent('work-1', 'codex', 'x', { signal: left.signal });
    await until(isAsked);
    left.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(await isAsked()).toBe(false);

    const second = bosun.spawnAgent('work-1', 'codex', 'x');
    await until(isAsked);
    const run = { ...(await store.run('work-1'))!, state: 'failed' as const };
    await store.append('work-1', run.lastSeq, { entries: [], run, tasks: [], handled: [] });
    await expect(second).rejects.toThrow('no child was started: run work-1 has just ended: it is failed');
    expect(await isAsked()).toBe(false);
  });

  it('goes on from a task that is done as a run of its own, with its files and what it said', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const spec = workflow({
      name: 'spec',
      agents: {
        writer: { runtime: 'cli', command: `echo "the spec" > spec.md; echo 'I said $''{{ this }}'` },
        coder: { runtime: 'cli', command: 'cat > prompt.txt; cp spec.md code.txt' },
      },
      tasks: {
        write: { agent: 'writer', prompt: 'Specify.' },
        each: { 'for-each': ['a', 'b'], run: 'true' },
        wrong: { run: 'false', 'on-failure': 'continue' },
      },
    } as never);
    const first = await (await bosun.run(spec)).finished;
    const { live, ...spawned } = await bosun.spawnAgent(`${first.id}/write`, 'coder', 'Implement ${{ it }}.');
    expect(spawned).toMatchObject({ run: 'exec-1', task: 'agent', parent: 'spec-1/write', state: 'active' });
    expect((await live!.finished).state).toBe('done');
    expect((await bosun.status('exec-1')).run.parent).toEqual({ run: 'spec-1', task: 'write' });
    expect(await fileIn(repository, 'exec-1', 'code.txt')).toBe('the spec');
    const told = await fileIn(repository, 'exec-1', 'prompt.txt');
    expect(told).toContain('Implement ${{ it }}.');
    expect(told).toMatch(/You go on from task write of run spec-1.*I said \$\{\{ this \}\}/s);
    expect(await bosun.agents('exec-1')).toMatchObject([
      { role: 'coder', parent: 'spec-1/write', state: 'completed' },
    ]);
    await bosun.merge('exec-1');
    expect(await repository.git('ls-files')).toContain('spec.md');
    // left in the queue it is a run like any other
    const queued = await bosun.spawnAgent('exec-1', undefined, 'More.', { queue: true });
    expect(queued).toMatchObject({ run: 'exec-2', state: 'pending', parent: 'exec-1' });
    expect(await bosun.work()).toMatchObject({ done: 1 });
    for (const [parent, message] of [
      [`${first.id}/wrong`, 'wrong of run spec-1 is failed'],
      [`${first.id}/each`, 'stands for 2 tasks'],
      [`${first.id}/nope`, 'has no task nope'],
      [first.id, 'say which is the parent'],
      ['other-1/write', 'there is no run other-1'],
    ] as const)
      await expect(bosun.spawnAgent(parent, 'coder', 'x')).rejects.toThrow(message);
  });

  it('has no parent where none is named: an agent of a file, or a runtime', async () => {
    const agent = '---\nname: tester\nruntime: cli\ncommand: cat > tested.txt\n---\nYou test.\n';
    await using repository = await makeRepository({ files: { ...FILES, '.bosun/agents/tester.md': agent } });
    await using bosun = new Bosun(repository.path);
    await expect(bosun.spawnAgent(undefined, undefined, 'x')).rejects.toMatchObject({ code: 'usage' });
    await expect(bosun.spawnAgent(undefined, 'nobody', 'x')).rejects.toThrow('nobody');
    await expect(bosun.spawnAgent(undefined, 'tester', 'x', { name: 'y' })).rejects.toThrow('parent');
    const { live, run } = await bosun.spawnAgent(undefined, 'tester', 'Test it.');
    expect((await live!.finished).state).toBe('done');
    expect(await fileIn(repository, run, 'tested.txt')).toContain('Test it.');
    const codex = await bosun.spawnAgent(undefined, 'codex', 'x', { queue: true });
    expect(await bosun.agents(codex.run)).toMatchObject([{ role: 'codex', state: 'pending' }]);
  });

  it("gets the user's runtime, model and time limit where it leaves them open, and its parent's isolation", async () => {
    const config = await makeRepository({
      files: { 'bosun/config.yaml': 'runtime: codex\nmodel: mine\ntimeout: 7m\n' },
    });
    vi.stubEnv('XDG_CONFIG_HOME', config.path);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await config[Symbol.asyncDispose]();
    });
    const asked = { cwd: config.path, by: 'anna', prompt: 'x' };
    const alone = spawnedWorkflow({ ...asked, role: 'codex' }, undefined).workflow;
    expect(alone.tasks['agent']).toMatchObject({
      agent: { runtime: 'codex', model: 'mine' },
      timeout: '7m',
    });
    const other = spawnedWorkflow({ ...asked, model: 'other' }, undefined).workflow;
    expect(other.tasks['agent']).toMatchObject({ agent: { runtime: 'codex', model: 'other' } });
    expect(alone.isolation).toBe('best-effort');
    const parent = workflow({ ...FAMILY, isolation: 'required' });
    const from = { run: { id: 'family-1' }, parent: {}, state: { workflow: parent }, said: '' } as never;
    expect(spawnedWorkflow({ ...asked, role: 'hand' }, from).workflow.isolation).toBe('required');
  });

  it('is pending where it could not be started, and says why', async () => {
    const agent = '---\nname: tester\nruntime: cli\ncommand: "true"\n---\nYou test.\n';
    await using repository = await makeRepository({ files: { ...FILES, '.bosun/agents/tester.md': agent } });
    await using bosun = new Bosun(repository.path);
    // what SQLite says of a journal that others keep locked, and the gate of one that is pruned
    const seen = (): void => {
      throw new BosunError('busy', 'it did not become free');
    };
    const spawned = await bosun.spawnAgent(undefined, 'tester', 'Test it.', { seen });
    expect(spawned).toEqual({
      run: 'exec-1',
      task: 'agent',
      state: 'pending',
      notes: ['run exec-1 is queued and was not started: it did not become free; start it with: bosun work'],
    });
    expect((await bosun.status('exec-1')).run.state).toBe('pending');
  });

  it('is started by bosun exec, which prints its id alone where another process drives it', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using bosun = new Bosun(repository.path);
    const live = await familyAtWork(bosun);
    const asked = ['exec', '--parent', `${live.id}/build`, '--agent', 'hand'];
    expect(await command(repository.path, ...asked, '--detach', 'one')).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(await command(repository.path, ...asked, 'one')).toMatchObject({
      code: 0,
      stdout: `${live.id}/build/spawned-1\n`,
    });
    await live.finished;
    const { stdout } = await command(repository.path, 'agents', live.id);
    expect(stdout).toMatch(/^completed {2}hand {2}family-1\/build\/spawned-1 {2}child of family-1\/build$/m);
    const own = await command(
      repository.path,
      'exec',
      '--parent',
      `${live.id}/build`,
      '--agent',
      'hand',
      'two',
    );
    expect(own.code, own.stderr).toBe(0);
  });
});
