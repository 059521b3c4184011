/** Agents that wait: what ends a wait, and that nobody hangs where they wait for each other. */
import { describe, expect, it } from 'vitest';
import type { Decision, EventOf, Fact, WaitFor } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { startDecided } from './fixtures/decided-run.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';

type Tasks = WorkflowSource['tasks'];
const run = { run: 'true' };

function waits(task: string, what: WaitFor, attempt = 1): Fact {
  return { type: 'wait.began', task, attempt, id: `${task}+w1`, for: what, timeoutMs: 60_000 };
}

function says(task: string, to: string): Fact {
  return { type: 'message.sent', task, attempt: 1, id: `${task}+m1`, to, body: 'hi' };
}

function ends(task: string): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1 };
}

function toldIn(decisions: Decision[]): string[] {
  return decisions.flatMap((decision) => {
    if (decision.type === 'wait.ended') return [`${decision.task} ${decision.why}: ${decision.text}`];
    return decision.type === 'wait.circled' ? [`circle: ${decision.text}`] : [];
  });
}

const message: WaitFor = { kind: 'message' };
const from = (task: string): WaitFor => ({ kind: 'message', task });
const end = (task: string): WaitFor => ({ kind: 'end', task });
const api = (name: string, publisher: string, version = 1): WaitFor => ({
  kind: 'publication',
  publisher,
  name,
  version,
});

function publishes(task: string, version = 1): Fact {
  return {
    type: 'publication.made',
    task,
    attempt: 1,
    name: 'x',
    version,
    value: `v${version}`,
    commit: `p${version}`,
    changedCount: 1,
  };
}

describe('a wait', () => {
  it('for a message is over when one comes, or when one is there', () => {
    const { take } = startDecided({ tasks: { a: run, b: run } });
    expect(toldIn(take(waits('a', message)))).toEqual([]);
    expect(toldIn(take(says('b', 'a')))).toEqual(['a met: a message from b waits; call inbox']);
    expect(toldIn(take(waits('a', from('b'))))).toEqual(['a met: a message from b waits; call inbox']);
  });

  it('for a message of one task does not end with that of another, and ends with that task', () => {
    const { take } = startDecided({ tasks: { a: run, b: run, c: run } });
    take(waits('a', from('b')));
    expect(toldIn(take(says('c', 'a')))).toEqual([]);
    expect(toldIn(take(ends('b')))).toEqual(['a ended: b has ended and sent nothing more']);
  });

  it('for the end of a task is over when that has ended, however', () => {
    const { take } = startDecided({ tasks: { a: run, b: run, c: { ...run, needs: ['b'] } } });
    take(waits('a', end('c')));
    expect(toldIn(take(ends('b')))).toEqual([]);
    expect(toldIn(take(ends('c')))).toEqual(['a met: c has ended (done)']);
  });

  it('for a publication is over when that version or a later one is there, or can never come', () => {
    const { take } = startDecided({ tasks: { a: run, b: { ...run, publishes: ['x'] } } });
    take(waits('a', api('x', 'b')));
    expect(toldIn(take(publishes('b')))).toEqual(['a met: b published x version 1 with 1 changed file:\nv1']);
    take(waits('a', api('x', 'b', 2)));
    expect(toldIn(take(publishes('b', 2)))).toEqual([
      'a met: b published x version 2 with 1 changed file:\nv2',
    ]);
    take(waits('a', api('x', 'b', 3)));
    expect(toldIn(take(ends('b')))).toEqual([
      'a ended: b has ended (done) and did not publish version 3 of x',
    ]);
  });

  it('is over when its time is up, and when the run is cancelled', () => {
    const { take } = startDecided({ tasks: { a: run, b: run } });
    take(waits('a', message));
    const expired: Fact = { type: 'wait.expired', task: 'a', attempt: 1, id: 'a+w1' };
    expect(toldIn(take(expired))).toEqual(['a expired: nothing came within 1m00s']);
    take(waits('a', message));
    expect(toldIn(take({ type: 'run.cancelling', mode: 'graceful', by: 'test' }))).toEqual([
      'a cancelled: the run is being cancelled',
    ]);
  });

  it('is forgotten with its attempt, with its engine, and when whoever waited hung up', () => {
    const { take, state } = startDecided({ tasks: { a: run, b: run } });
    const left: Fact = { type: 'wait.left', task: 'a', attempt: 1, id: 'a+w1' };
    for (const fact of [left, { type: 'run.isolation', kind: 'none', notes: [] } as Fact, ends('a')]) {
      take(waits('a', message));
      expect([state.agentWaits.size, state.away]).toEqual([1, 1]);
      take(fact);
      expect([state.agentWaits.size, state.away]).toEqual([0, 0]);
    }
    take(waits('a', message));
    expect(state.agentWaits.size).toBe(0);
  });

  it('leaves its place to another task, and to no more than `concurrency` of them', () => {
    const tasks = { a: run, b: run, c: run };
    const { take, state } = startDecided({ concurrency: 1, tasks });
    const started = (decisions: Decision[]): string[] =>
      decisions.flatMap((one) => (one.type === 'attempt.started' ? [one.task] : []));
    expect(started(take(waits('a', message)))).toEqual(['b']);
    expect(started(take(says('b', 'a')))).toEqual([]);
    expect(state.running).toBe(2);
    expect(started(take(ends('a')))).toEqual([]);
    expect(started(take(ends('b')))).toEqual(['c']);
  });

  it('for a message of another costs no look at all tasks while that one can still send it', () => {
    const names = Array.from({ length: 20 }, (_, n) => `t${n}`);
    const tasks = Object.fromEntries(names.map((name) => [name, run]));
    const { take, state } = startDecided({ concurrency: 40, tasks: { ...tasks, sender: run } });
    for (const name of names) take(waits(name, from('sender')));
    const { nodes } = state;
    const all = nodes.values.bind(nodes);
    let looks = 0;
    nodes.values = () => (looks++, all());
    take({ type: 'attempt.progress', task: 'sender', attempt: 1, text: 'half' });
    expect(looks).toBe(0);
    expect(toldIn(take(ends('sender')))).toHaveLength(names.length);
  });
});

describe('a circle', () => {
  const cases: [what: string, tasks: Tasks, waiting: [string, WaitFor][], told: string][] = [
    [
      'of messages',
      { a: run, b: run },
      [['a', from('b')], ['b', from('a')]],
      'a waits for a message from b, b waits for a message from a',
    ],
    [
      'of a message and an end',
      { a: run, b: run, c: run },
      [['a', from('b')], ['b', end('a')]],
      'a waits for a message from b, b waits for the end of a',
    ],
    [
      'of three',
      { a: run, b: run, c: run },
      [['a', end('b')], ['b', end('c')], ['c', end('a')]],
      'a waits for the end of b, b waits for the end of c, c waits for the end of a',
    ],
    [
      'through needs',
      { a: run, b: { ...run, needs: ['a'] }, c: run },
      [['a', end('b')]],
      'a waits for the end of b',
    ],
    [
      'with a continuous task, which ends after all others',
      { a: run, lint: { ...run, continuous: { every: '1m' } } },
      [['a', end('lint')]],
      'a waits for the end of lint',
    ],
  ]; // prettier-ignore
  it.each(cases)('%s is found, and all in it are told', (_, tasks, waiting, told) => {
    const { take, state } = startDecided({ tasks });
    const heard = waiting.flatMap(([task, what]) => toldIn(take(waits(task, what))));
    expect(heard).toEqual([`circle: nobody of these can go on: ${told}`]);
    expect([state.agentWaits.size, state.away]).toEqual([0, 0]);
  });

  const publisher = { ...run, publishes: ['x'] };
  const needy = { ...run, needs: ['api:x'] };

  it('is one where a publisher waits for work that is merged after its own', () => {
    const { take } = startDecided({ tasks: { a: publisher, b: needy } });
    take(publishes('a'));
    expect(take(ends('b')).map(({ type }) => type)).toEqual(['merge.deferred']);
    expect(toldIn(take(waits('a', end('b'))))).toEqual([
      'circle: nobody of these can go on: a waits for the end of b',
    ]);
    expect(take(ends('a')).map(({ type }) => type)).toContain('run.finished');
  });

  it('is one where a publisher waits for who needs its publication', () => {
    const { take } = startDecided({ tasks: { a: publisher, b: needy, c: run } });
    expect(toldIn(take(waits('a', from('b'))))).toEqual([
      'circle: nobody is left who could send it: a waits for a message from b',
    ]);
    take(waits('a', message)); // c may speak
    expect(toldIn(take(waits('c', api('x', 'a'))))).toEqual([
      'circle: nobody of these can go on: a waits for a message, c waits for x from a',
    ]);
  });

  it('is one where everybody waits for anybody, and where one is left alone', () => {
    const { take } = startDecided({ tasks: { a: run, b: run } });
    take(waits('a', message));
    expect(toldIn(take(waits('b', message)))).toEqual([
      'circle: nobody of these can go on: a waits for a message, b waits for a message',
    ]);
    take(waits('a', message));
    expect(toldIn(take(ends('b')))).toEqual([
      'circle: nobody is left who could send it: a waits for a message',
    ]);
  });

  it('is one where the task has no place to start in', () => {
    const { take } = startDecided({ concurrency: 1, tasks: { a: run, b: run, c: run } });
    take(waits('a', end('c')));
    expect(toldIn(take(waits('b', end('c'))))).toEqual([
      'circle: nobody of these can go on: a waits for the end of c, b waits for the end of c; c has no place to start in',
    ]);
  });

  it('is none as long as somebody else can do what one of them waits for', () => {
    const tasks = { a: run, b: run, c: { ...run, needs: ['d'] }, d: run, ask: { approve: 'Go on?' } };
    const { take } = startDecided({ tasks });
    expect(toldIn(take(waits('a', from('b'))))).toEqual([]);
    expect(toldIn(take(waits('b', message)))).toEqual([]); // c may speak
    expect(toldIn(take(ends('d')))).toEqual([]);
    expect(toldIn(take(waits('c', end('ask'))))).toEqual([]); // a person may answer
  });
});

describe('an agent', () => {
  const two = { tasks: { one: run, two: run } };

  it('waits in its inbox, or for something, and hears of it at once', async () => {
    await driveAttempts(two, {
      one: async ({ crew }) => {
        expect((await crew!.inbox({ wait: 30 })).messages).toMatchObject([{ body: 'hi' }]);
        expect(await crew!.wait_for({ for: 'end', name: 'two' })).toEqual({
          over: 'met',
          text: 'two has ended (done)',
        });
        expect(await crew!.wait_for({ for: 'message', name: 'two' })).toMatchObject({ over: 'ended' });
      },
      two: async ({ crew }) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        await crew!.send({ to: 'one', message: 'hi' });
      },
    });
  });

  it('hears that its time is up, and has errors for names that are not there', async () => {
    const done = Promise.withResolvers<void>();
    const events = await driveAttempts(two, {
      one: async ({ crew }) => {
        const { waited, messages } = await crew!.inbox({ wait: 0.05 });
        expect([waited, messages]).toEqual(['nothing came within 50ms', []]);
        const bad = (input: Parameters<NonNullable<typeof crew>['wait_for']>[0]): Promise<unknown> =>
          expect(crew!.wait_for(input)).rejects.toThrow(BAD);
        await bad({ for: 'end', name: 'three' });
        await bad({ for: 'end' });
        await bad({ for: 'end', name: 'one' });
        await bad({ for: 'message', name: 'three' });
        await bad({ for: 'message', name: 'one' });
        done.resolve();
      },
      two: () => done.promise,
    });
    expect(events.filter(({ type }) => type.startsWith('wait.')).map(({ type }) => type)).toEqual([
      'wait.began',
      'wait.expired',
      'wait.ended',
    ]);
  });

  it('that hangs up waits no longer', async () => {
    const done = Promise.withResolvers<void>();
    const events = await driveAttempts(two, {
      one: async ({ crew }) => {
        const left = new AbortController();
        const waited = crew!.wait_for({ for: 'message' }, left.signal);
        await new Promise((resolve) => setTimeout(resolve, 50));
        left.abort();
        await waited;
        expect(await crew!.wait_for({ for: 'message', timeout: 0.05 })).toMatchObject({ over: 'expired' });
        done.resolve();
      },
      two: () => done.promise,
    });
    expect(events.filter(({ type }) => type === 'wait.left')).toHaveLength(1);
  });

  it('for a message of nobody is told whom there is, without words that only messages know', async () => {
    await driveAttempts(two, {
      one: async ({ crew }) => {
        const waited = crew!.wait_for({ for: 'message', name: 'parent' });
        await expect(waited).rejects.toThrow(/^there is no task or agent "parent"; tasks: two$/);
      },
      two: async () => {},
    });
  });

  it('in a circle with another is told, with all in it', async () => {
    const told: unknown[] = [];
    const events = await driveAttempts(two, {
      one: async ({ crew }) => void told.push(await crew!.wait_for({ for: 'end', name: 'two' })),
      two: async ({ crew }) => void told.push(await crew!.wait_for({ for: 'end', name: 'one' })),
    });
    expect(told).toMatchObject([{ over: 'circle' }, { over: 'circle' }]);
    const circles = events.filter((event): event is EventOf<'wait.circled'> => event.type === 'wait.circled');
    expect(circles.map(({ waits: all }) => all.length)).toEqual([2]);
  });
});

const BAD = /there is no task or agent "three"|name the task|your own task/;
