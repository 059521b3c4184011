/** Hooks of a user, a workflow and a program around real runs: who is asked and told, in what order, and what stays. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/contract/config.ts';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import type { WorkflowSource } from '../../src/contract/workflow.ts';
import { workflow } from '../../src/definition/builder.ts';
import { Bosun } from '../../src/doors/library.ts';
import { startRun, type StartOptions } from '../../src/operations/run.ts';
import { journalHash } from '../../src/report/journal-hash.ts';
import { isAlive } from '../../src/system/process/is-alive.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

let repository: TestRepository;
let bosun: Bosun;
/** What hooks write. */
let directory: string;
beforeAll(async () => {
  repository = await makeRepository();
  bosun = new Bosun(repository.path);
  directory = mkdtempSync(path.join(tmpdir(), 'bosun-hooks-'));
});
afterAll(async () => {
  await repository[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const at = (name: string): string => path.join(directory, name);
const lines = (name: string): string[] => readFileSync(at(name), 'utf8').trim().split('\n');
const told = (name: string): Record<string, unknown>[] =>
  lines(name).map((line) => JSON.parse(line) as Record<string, unknown>);

const asUser = (config: Config, env: NodeJS.ProcessEnv = process.env): Pick<StartOptions, 'configured'> => ({
  configured: { configs: [{ file: '/home/anna/.config/bosun/config.yaml', isUsers: true, config }], env },
});

async function run(
  source: Omit<WorkflowSource, 'name'>,
  options: Partial<StartOptions> = {},
): Promise<{ id: string; state: string; events: Event[] }> {
  const live = await startRun({
    cwd: repository.path,
    by: 'test',
    workflow: workflow({ name: 'w', ...source }),
    source: 'bosun.yaml',
    trust: true,
    ...options,
  });
  const { state } = await live.finished;
  return { id: live.id, state, events: await eventsOf(live.id) };
}

async function eventsOf(id: string): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of bosun.events(id)) events.push(...page.map(({ event }) => event));
  return events;
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

describe('hooks before an attempt', () => {
  it('are asked in order, add to it, and leave no value of a variable in the journal', async () => {
    // Made when it runs: what a workflow says is in the journal.
    const secret = `printf '%032d' 4`;
    const adds = (name: string, prompt: string): string =>
      `echo ${name} >> ${at('order')}; printf '{"env":{"WHO":"${name}","${name}":"%s"},"prompt":"${prompt}"}' $(${secret})`;
    const { id, state, events } = await run(
      {
        agents: {
          dev: { runtime: 'cli', command: 'cat > told.txt; echo "$WHO ${#USERS} ${#ITS}" >> told.txt' },
        },
        hooks: [{ on: 'before-attempt', command: adds('ITS', 'Second.') }],
        tasks: {
          one: { agent: 'dev', prompt: 'First.' },
          two: { needs: ['one'], run: 'test $WHO = program' },
        },
      },
      {
        ...asUser({ hooks: [{ on: ['before-attempt'], command: adds('USERS', 'And.'), name: 'mine' }] }),
        hooks: () => [
          {
            id: 'hook-1',
            moment: 'beforeAttempt',
            call: (input) => {
              writeFileSync(at('order'), `program ${input.type}\n`, { flag: 'a' });
              return { env: { WHO: 'program' } };
            },
          },
        ],
      },
    );
    expect(state).toBe('done');
    expect(lines('order').slice(0, 3)).toEqual(['USERS', 'ITS', 'program before-attempt']);
    const shown = await repository.git('--git-dir=.git/bosun/git', 'show', `bosun/${id}:told.txt`);
    expect(shown).toBe('First.\n\nAnd.\n\nSecond.program 32 32');
    const hooked = of(events, 'attempt.hooked');
    const [type, attempt] = ['attempt.hooked', 1];
    expect(hooked).toEqual([
      { type, attempt, task: 'one', hook: 'mine', env: ['WHO', 'USERS'], prompt: 'And.' },
      { type, attempt, task: 'one', hook: 'hook 1 of bosun.yaml', env: ['WHO', 'ITS'], prompt: 'Second.' },
      { type, attempt, task: 'one', hook: 'hook-1', env: ['WHO'] },
      { type, attempt, task: 'two', hook: 'mine', env: ['WHO', 'USERS'] },
      { type, attempt, task: 'two', hook: 'hook 1 of bosun.yaml', env: ['WHO', 'ITS'] },
      { type, attempt, task: 'two', hook: 'hook-1', env: ['WHO'] },
    ]);
    const kept = path.join(repository.path, '.git', 'bosun');
    for (const name of readdirSync(kept).filter((file) => file.startsWith('journal.db')))
      expect(readFileSync(path.join(kept, name)).includes('0'.repeat(31)), name).toBe(false);
  });

  it('veto it for good: nothing of it runs, no retry follows, and those after it are not asked', async () => {
    const { state, events } = await run({
      hooks: [
        { on: 'before-attempt', name: 'gate', command: 'echo "not on a Friday" >&2; exit 1' },
        { on: 'before-attempt', name: 'later', command: `touch ${at('later')}` },
        { on: 'after-attempt', command: `touch ${at('after')}` },
        { on: 'error', command: `cat >> ${at('errors')}` },
      ],
      tasks: { one: { run: 'true', retry: { attempts: 3, backoff: '1ms' } } },
    });
    expect(state).toBe('failed');
    const outcome = { kind: 'failed', reason: 'vetoed', message: 'gate: not on a Friday' };
    expect(of(events, 'attempt.hooked')).toEqual([
      { type: 'attempt.hooked', task: 'one', attempt: 1, hook: 'gate', veto: 'not on a Friday' },
    ]);
    expect(of(events, 'attempt.finished').map((event) => event.outcome)).toEqual([outcome]);
    expect(of(events, 'task.finished').map((event) => event.outcome)).toEqual([outcome]);
    expect(of(events, 'attempt.workspace')).toEqual([]);
    expect(readdirSync(directory).filter((name) => name === 'later' || name === 'after')).toEqual([]);
    expect(told('errors')).toMatchObject([{ type: 'error', task: 'one', attempt: 1, reason: 'vetoed' }]);
  });

  it('veto it where they fail, hang or answer what nobody understands', async () => {
    const gates: Record<string, WorkflowSource['hooks']> = {
      missing: [{ on: 'before-attempt', command: ['/no/such/program'] }],
      malformed: [{ on: 'before-attempt', command: 'echo yes' }],
      hanging: [{ on: 'before-attempt', command: 'sleep 1000', timeout: '100ms' }],
    };
    const messages: Record<string, RegExp> = {
      missing: /no such program|No such file|exit code 127/i,
      malformed: /it failed: its answer is not JSON/,
      hanging: /it failed: it did not end within 100ms/,
    };
    await Promise.all(
      Object.entries(gates).map(async ([name, hooks]) => {
        const { events } = await run({ hooks, tasks: { one: { run: 'true' } } });
        expect(of(events, 'attempt.hooked')[0]!.veto, name).toMatch(messages[name]!);
      }),
    );
  });

  it('that hang are ended when the run is cancelled, and it is cancelled', async () => {
    const file = at('hanging');
    const live = await startRun({
      cwd: repository.path,
      by: 'test',
      workflow: workflow({
        name: 'w',
        hooks: [
          { on: 'before-attempt', command: `echo $$ > ${file}.new; mv ${file}.new ${file}; sleep 1000` },
        ],
        tasks: { one: { run: 'true' } },
      }),
      source: 'bosun.yaml',
      trust: true,
    });
    await expect.poll(() => readdirSync(directory).includes('hanging'), { timeout: 30_000 }).toBe(true);
    // Whoever looks sees what it waits for.
    const held = async (): Promise<unknown> => (await bosun.status(live.id)).tasks[0]!.held;
    await expect
      .poll(held, { timeout: 30_000 })
      .toMatchObject({ by: 'hook', text: 'waits for hook 1 of bosun.yaml' });
    live.cancel('graceful');
    expect((await live.finished).state).toBe('cancelled');
    await expect.poll(() => isAlive(Number(readFileSync(file, 'utf8'))), { timeout: 20_000 }).toBe(false);
    expect(of(await eventsOf(live.id), 'attempt.hooked')).toEqual([]);
  });
});

describe('hooks after the fact', () => {
  it('are told in order of what happened, and once the report is there', async () => {
    const file = at('told');
    const { id, state } = await run(
      {
        tasks: {
          one: { run: 'echo hi > hi.txt; echo "42"' },
          ask: { needs: ['one'], approve: { question: 'Ship?', timeout: '50ms', default: 'yes' } },
          bad: { needs: ['ask'], run: 'exit 3' },
        },
      },
      asUser(
        {
          hooks: [
            { on: ['after-attempt', 'error', 'question', 'run-ended'], command: `cat >> ${file}` },
            {
              on: 'run-ended',
              command: `ls .git/bosun/runs/$BOSUN_RUN > ${at('report')}; env > ${at('env')}`,
            },
          ],
        },
        { ...process.env, OURS_API_KEY: 'sk-ours' },
      ),
    );
    expect(state).toBe('failed');
    const where = { run: id, workflow: 'w', repository: repository.path };
    expect(told('told')).toMatchObject([
      {
        type: 'after-attempt',
        ...where,
        task: 'one',
        outcome: { kind: 'done' },
        changedCount: 1,
        output: '42',
      },
      { type: 'question', ...where, task: 'ask', text: 'Ship?', default: 'yes', timeoutMs: 50 },
      { type: 'after-attempt', task: 'bad', outcome: { kind: 'failed', reason: 'exit', exitCode: 3 } },
      { type: 'error', task: 'bad', attempt: 1, reason: 'exit' },
      { type: 'run-ended', state: 'failed', counts: { done: 2, failed: 1 }, branch: `bosun/${id}` },
    ]);
    expect(lines('report').join()).toMatch(/report/);
    expect(lines('env').filter((line) => /^(OURS_API_KEY|BOSUN_TRUST)=/.test(line))).toEqual([]);
  });

  it('are told the end of a run that nobody drives, once its report is there', async () => {
    await using own = new Bosun(repository.path);
    own.addHook('runEnded', ({ run: id, state }) => writeFileSync(at(`program-${id}`), state));
    const hook = `cat > ${at('undriven')}-$BOSUN_RUN; ls .git/bosun/runs/$BOSUN_RUN > ${at('files')}-$BOSUN_RUN`;
    const told = workflow({
      name: 'undriven',
      hooks: [{ on: 'run-ended', command: hook }],
      tasks: { one: { run: 'true' } },
    });
    const pending = await own.queue(told, { trust: true });
    const killed = await startRun({
      cwd: repository.path,
      by: 'test',
      workflow: told,
      source: 'bosun.yaml',
      trust: true,
      fault(point) {
        if (point.startsWith('after:') && point.includes('attempt.started')) throw new Error('power cut');
      },
    });
    await expect(killed.finished).rejects.toThrow('power cut');
    for (const { id } of [pending, killed]) {
      expect((await own.cancel(id)).state).toBe('cancelled');
      const [ended] = lines(`undriven-${id}`);
      expect(JSON.parse(ended!)).toMatchObject({ type: 'run-ended', run: id, state: 'cancelled' });
      expect(lines(`files-${id}`).join()).toMatch(/report/);
      expect(lines(`program-${id}`)).toEqual(['cancelled']);
    }
  });

  it('that hang are ended where the run is cancelled now, before its end and after it', async () => {
    const hang = (): Promise<never> => new Promise(() => {});
    const isUnderWay = Promise.withResolvers<void>();
    const live = await startRun({
      cwd: repository.path,
      by: 'test',
      workflow: workflow({ name: 'w', tasks: { one: { run: 'true' }, two: { run: 'sleep 1000' } } }),
      source: 'bosun.yaml',
      hooks: () => [
        {
          id: 'attempts',
          moment: 'afterAttempt',
          call(input) {
            if (input.type !== 'after-attempt' || input.task !== 'one') return undefined;
            isUnderWay.resolve();
            return hang();
          },
        },
        {
          id: 'end',
          moment: 'runEnded',
          call() {
            live.cancel('now');
            return hang();
          },
        },
      ],
    });
    await isUnderWay.promise;
    live.cancel('now');
    expect((await live.finished).state).toBe('cancelled');
    const failed = of(await eventsOf(live.id), 'hook.failed').map(({ hook, why }) => [hook, why]);
    // Whoever is told after the word to cancel is told all the same.
    expect(failed).toEqual([
      ['attempts', 'the run was cancelled'],
      ['end', 'the run was cancelled'],
    ]);
  });

  it('that cannot be found out are events, each time, and the run ends as it would', async () => {
    // No address: a configuration that is read from a file is refused for that.
    const { state, events } = await run(
      { tasks: { one: { run: 'true' } } },
      asUser({ hooks: [{ on: ['after-attempt', 'run-ended'], url: 'nowhere' }] }),
    );
    expect(state).toBe('done');
    const why = expect.stringContaining('the hooks could not be read: ') as string;
    expect(of(events, 'hook.failed')).toMatchObject([
      { hook: 'list', moment: 'after-attempt', about: 'one', why },
      { hook: 'list', moment: 'run-ended', why },
    ]);
  });

  it('that are under way are ended where the engine fails after the run', async () => {
    const isUnderWay = Promise.withResolvers<AbortSignal>();
    let report: string | undefined;
    const live = await startRun({
      cwd: repository.path,
      by: 'test',
      workflow: workflow({
        name: 'w',
        tasks: { one: { run: 'true' }, ask: { needs: ['one'], approve: 'Go on?' } },
      }),
      source: 'bosun.yaml',
      hooks() {
        if (report !== undefined && existsSync(report)) throw new Error('a bug');
        const call = (_: unknown, signal: AbortSignal): Promise<never> => {
          isUnderWay.resolve(signal);
          return new Promise(() => {});
        };
        return [{ id: 'hangs', moment: 'afterAttempt', call }];
      },
    });
    report = path.join(repository.path, '.git/bosun/runs', live.id, 'report.html');
    const signal = await isUnderWay.promise;
    const asked = async (): Promise<number> => (await bosun.status(live.id)).run.questions.length;
    await expect.poll(asked, { timeout: 30_000 }).toBe(1);
    live.answer('ask', 'yes');
    await expect(live.finished).rejects.toThrow('a bug');
    expect(signal.aborted).toBe(true);
  });

  it('that fail are events, and change nothing; a webhook that fails holds nobody up', async () => {
    const posted: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => posted.push(chunk.toString()));
      request.on('end', () => response.writeHead(500).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-of-ours`;
    const { state, events } = await run(
      {
        hooks: [
          { on: 'after-attempt', name: 'prints', command: 'yes' },
          { on: 'after-attempt', name: 'hangs', command: 'sleep 1000', timeout: '200ms' },
          { on: 'run-ended', name: 'fails', command: 'echo gone >&2; exit 4' },
        ],
        tasks: { one: { run: 'true' }, two: { needs: ['one'], run: 'true' } },
      },
      {
        ...asUser(
          {
            hooks: [{ on: 'run-ended', name: 'web', url, secret: { env: 'OURS' } }],
            notify: [{ slack: { env: 'NOT_THERE' }, on: 'ended' }],
          },
          { ...process.env, OURS: 'a-secret-of-ours' },
        ),
        hooks: () => [
          {
            id: 'hook-1',
            moment: 'afterAttempt',
            call: () => {
              throw new Error('boom');
            },
          },
        ],
      },
    );
    server.close();
    expect(state).toBe('done');
    const failed = of(events, 'hook.failed').map(({ hook, moment, about, why }) => [
      hook,
      moment,
      about,
      why,
    ]);
    const each = (task: string): unknown[] => [
      ['prints', 'after-attempt', task, 'it printed more than 1 MB'],
      ['hangs', 'after-attempt', task, 'it did not end within 200ms'],
      ['hook-1', 'after-attempt', task, 'boom'],
    ];
    const late = failed.filter(([, moment]) => moment === 'run-ended');
    expect(failed.filter(([, moment]) => moment !== 'run-ended')).toEqual([...each('one'), ...each('two')]);
    expect(new Set(late.map(([hook]) => hook))).toEqual(new Set(['fails', 'notify 1 of config.yaml', 'web']));
    expect(late.find(([hook]) => hook === 'fails')![3]).toBe('it ended with exit code 4: gone');
    expect(late.find(([hook]) => hook === 'web')![3]).toMatch(/^127.0.0.1 answered 500 \(tried/);
    expect(new Set(posted).size).toBe(1);
    expect(JSON.stringify(events)).not.toMatch(/a-secret-of-ours|key-of-ours/);
  });

  it('are not told of a replay, which asks those before an attempt and ends with the same hash', async () => {
    const cassette = at('run.cassette');
    const source: Omit<WorkflowSource, 'name'> = {
      hooks: [
        { on: 'before-attempt', command: `echo asked >> ${at('asked')}; echo '{"env":{"A":"b"}}'` },
        { on: ['after-attempt', 'run-ended'], command: `echo told >> ${at('once')}; exit 1` },
      ],
      tasks: { one: { run: 'echo $A' } },
    };
    const recorded = await run(source, { record: cassette });
    const replayed = await run(source, { replay: cassette });
    expect([recorded.state, replayed.state]).toEqual(['done', 'done']);
    expect([lines('asked').length, lines('once').length]).toEqual([2, 2]);
    expect(of(recorded.events, 'hook.failed')).toHaveLength(2);
    const hash = (events: Event[]): string =>
      journalHash(events.map((event, seq) => ({ run: 'w', seq, atMs: 0, event })));
    expect(hash(replayed.events)).toBe(hash(recorded.events));
  });

  it('of a workflow that another one uses are for its tasks alone', async () => {
    const file = at('nested');
    const hook = (name: string): WorkflowSource['hooks'] => [
      { on: 'before-attempt', command: `echo ${name} $BOSUN_TASK >> ${file}` },
    ];
    const inner = workflow({ name: 'inner', hooks: hook('inner'), tasks: { deep: { run: 'true' } } });
    const outer = workflow({ name: 'w', hooks: hook('outer'), tasks: { one: { run: 'true' } } });
    const use = { needs: ['one'], attempts: 1, uses: 'inner.yaml' };
    const both = { ...outer, tasks: { ...outer.tasks, use }, nested: { 'inner.yaml': inner } };
    const live = await startRun({
      cwd: repository.path,
      by: 'test',
      workflow: both,
      source: 'x',
      trust: true,
    });
    expect((await live.finished).state).toBe('done');
    expect(lines('nested')).toEqual(['outer one', 'outer use/deep', 'inner use/deep']);
  });
});

describe('hooks of a program', () => {
  it('come and go by their ids, and what they throw before an attempt is a veto', async () => {
    await using own = new Bosun(repository.path);
    const one = workflow({ name: 'own', tasks: { one: { run: 'true' } } });
    const seen: string[] = [];
    const removed = own.addHook('beforeAttempt', () => false);
    own.addHook('beforeAttempt', ({ task, attempt }) => void seen.push(`${task} ${attempt}`));
    own.addHook('runEnded', ({ state }) => void seen.push(state), { name: 'end' });
    expect([own.removeHook(removed), own.removeHook(removed), own.removeHook('other')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await (await own.run(one)).finished).state).toBe('done');
    expect(seen).toEqual(['one 1', 'done']);

    const throws = own.addHook('beforeAttempt', () => Promise.reject(new Error('no licence')), {
      name: 'licence',
    });
    const failed = await (await own.run(one)).finished;
    expect(failed.state).toBe('failed');
    const [{ outcome }] = of(await eventsOf(failed.id), 'task.finished') as [EventOf<'task.finished'>];
    expect(outcome).toMatchObject({ reason: 'vetoed', message: 'licence: it failed: no licence' });
    own.removeHook(throws);
    expect((await (await own.retry('one', failed.id)).finished).state).toBe('done');
  });

  it('that are none are refused', () => {
    const add = (...args: unknown[]): string =>
      (bosun.addHook as (...all: unknown[]) => string).apply(bosun, args);
    expect(() => add('before', () => {})).toThrow('the moment must be one of beforeAttempt');
    expect(() => add('error', 'rm')).toThrow('must be a function');
    expect(() => add('error', () => {}, { timeoutMs: 0 })).toThrow('timeoutMs must be');
    const ids = Array.from({ length: 50 }, () => bosun.addHook('error', () => {}));
    expect(() => bosun.addHook('error', () => {})).toThrow('there are 50 already');
    for (const id of ids) bosun.removeHook(id);
  });
});
