/** Agents that talk: who gets a message, when it is read, and that none is lost or given twice. */
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../src/attempt/attempt.ts';
import type { Decision, Event, EventOf, Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { unreadBy } from '../src/schedule/fold/messages.ts';
import { nodeOf } from '../src/schedule/state.ts';
import { startDecided } from './fixtures/decided-run.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';

const agent = { runtime: 'cli', command: 'true' } as const;

let count = 0;
function says(task: string, to: string, more: Partial<EventOf<'message.sent'>> = {}): Fact {
  return { type: 'message.sent', task, attempt: 1, id: `${task}+m${++count}`, to, body: 'hi', ...more };
}

function ends(task: string, kind: 'done' | 'cancelled' = 'done'): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind }, durationMs: 1 };
}

function mailOf(decisions: Decision[]): unknown[] {
  return decisions.flatMap((decision): unknown[] => {
    if (decision.type === 'message.delivered') return [decision.to];
    return decision.type === 'message.refused' ? [`${decision.why}: ${decision.text}`] : [];
  });
}

describe('a message', () => {
  const tasks = {
    plan: { run: 'true' },
    build: { agent: 'dev', prompt: 'Go.' },
    test: { agent: 'dev', prompt: 'Go.', needs: ['build'] },
    ask: { approve: 'Ship it?', needs: ['test'] },
  };
  const cases: [to: string, gets: unknown][] = [
    ['build', ['build']],
    ['test', ['test']],
    ['dev', ['build', 'test']],
    ['agent:dev', ['build', 'test']],
    ['all', ['build', 'test']],
    ['task:all', expect.stringMatching(/^unknown: there is no task or agent "task:all"/)],
    ['plan', 'self: plan is your own task'],
    ['parent', 'nobody: your task has no parent'],
    ['children', 'nobody: no task within yours is left to read it'],
    ['ask', 'nobody: ask asks a person, and reads no messages'],
    [
      'biuld',
      'unknown: there is no task or agent "biuld"; did you mean "build"?; tasks: build, test; agents: dev; or all, children, parent',
    ],
  ];
  it.each(cases)('to %s goes to %j', (to, gets) => {
    const run = startDecided({ agents: { dev: agent }, tasks });
    expect(mailOf(run.take(says('plan', to)))).toEqual([gets]);
  });

  it('to a task that has ended is refused by its name', () => {
    const run = startDecided({ tasks: { one: { run: 'true' }, two: { run: 'true' } } });
    run.take(ends('two'));
    expect(mailOf(run.take(says('one', 'two')))).toEqual(['ended: two has ended (done)']);
    expect(mailOf(run.take(says('one', 'all')))).toEqual(['nobody: nobody else is left to read it']);
  });

  it('goes by the names that people see, and to all items of a for-each', () => {
    const run = startDecided({
      tasks: { one: { run: 'true' }, each: { 'for-each': ['a', 'b'], run: 'true' } },
    });
    expect(mailOf(run.take(says('one', 'each[b]')))).toEqual([['each.2']]);
    expect(mailOf(run.take(says('one', 'each')))).toEqual([['each.1', 'each.2']]);
    expect(mailOf(run.take(says('each.1', 'each')))).toEqual([['each.2']]);
  });

  it('waits with a task that stands for others until they are there', () => {
    const run = startDecided({
      tasks: {
        one: { run: 'true' },
        two: { run: 'true' },
        each: { 'for-each': ['a', 'b'], run: 'true', needs: ['two'] },
      },
    });
    expect(mailOf(run.take(says('one', 'each', { id: 'one+m1' })))).toEqual([['each']]);
    expect(mailOf(run.take(ends('two')))).toEqual([['each.1', 'each.2']]);
    expect(unreadBy(nodeOf(run.state, 'each.1'), 1).map(([{ id }]) => id)).toEqual(['one+m1']);
    expect(nodeOf(run.state, 'each').inbox.size).toBe(0);
  });

  it("to an agent waits for that agent's turn of a handoff", () => {
    const run = startDecided({
      agents: { a: agent, b: agent, c: agent },
      tasks: { fix: { handoff: ['a', 'b', 'c'], prompt: 'Go.' }, other: { run: 'true' } },
    });
    expect(mailOf(run.take(says('fix.1', 'c', { id: 'm' })))).toEqual([['fix']]);
    expect(mailOf(run.take(ends('fix.1')))).toEqual([]);
    expect(mailOf(run.take(ends('fix.2')))).toEqual([['fix.3']]);
  });

  it('is refused while the run is being cancelled', () => {
    const run = startDecided({ tasks: { one: { run: 'true' }, two: { run: 'true' } } });
    run.take({ type: 'run.cancelling', mode: 'graceful', by: 'test' });
    expect(mailOf(run.take(says('one', 'two')))).toEqual(['cancelled: the run is being cancelled']);
  });

  it('is refused where the inbox is full, and others get it nevertheless', () => {
    const run = startDecided({
      tasks: { one: { run: 'true' }, two: { run: 'true' }, three: { run: 'true' } },
    });
    for (let n = 0; n < 1000; n++) run.take(says('one', 'two'));
    expect(mailOf(run.take(says('one', 'two')))).toEqual([
      'full: the inbox of two has 1000 messages already',
    ]);
    expect(run.take(says('one', 'all'))).toMatchObject([
      { type: 'message.delivered', to: ['three'], full: ['two'] },
    ]);
  });
});

const TWO: Omit<WorkflowSource, 'name'> = {
  tasks: { one: { run: 'true' }, two: { run: 'true', retry: { attempts: 2, backoff: '1ms' } } },
};
const nothing = { messages: [], requests: [], left: 0, acknowledged: 0 };

describe('an inbox', () => {
  it('gives each message once, in order, and acknowledges it with the next call', async () => {
    const sent = Promise.withResolvers<void>();
    const events = await driveAttempts(TWO, {
      one: async ({ crew }) => {
        expect(await crew!.send({ to: 'two', message: 'a\nb' })).toEqual({
          id: 'one+m1',
          to: ['two'],
          waiting: [],
          full: [],
        });
        await crew!.send({ to: 'two', data: { n: 1 }, urgent: true });
        sent.resolve();
      },
      two: async ({ crew }) => {
        await sent.promise;
        const twice = await Promise.all([crew!.inbox({}), crew!.inbox({})]);
        expect(twice.flatMap(({ messages }) => messages)).toMatchObject([
          { id: 'one+m1', from: 'one', to: 'two', body: 'a\nb' },
          { id: 'one+m2', body: { n: 1 }, urgent: true },
        ]);
        expect(await crew!.inbox({ acknowledge: true })).toEqual({ ...nothing, acknowledged: 2 });
        expect(await crew!.inbox({})).toEqual(nothing);
      },
    });
    expect(events.filter(({ type }) => type === 'message.read')).toMatchObject([
      { task: 'two', attempt: 1, ids: ['one+m1', 'one+m2'] },
      { ids: [], acknowledged: ['one+m1', 'one+m2'] },
    ]);
  });

  it('gives the next attempt what the last one did not acknowledge, and nothing else', async () => {
    const sent = Promise.withResolvers<void>();
    const given: unknown[] = [];
    let other: Attempt | undefined;
    const done = Promise.withResolvers<void>();
    await driveAttempts(TWO, {
      one: async (attempt) => {
        other = attempt;
        for (const message of ['a', 'b', 'c']) await attempt.crew!.send({ to: 'two', message });
        sent.resolve();
        await done.promise;
      },
      two: async ({ crew, start }) => {
        await sent.promise;
        const { messages } = await crew!.inbox({});
        given.push(messages.map(({ body, again }) => [body, again]));
        if (start.attempt > 1) return done.resolve();
        await crew!.inbox({ acknowledge: true });
        await other!.crew!.send({ to: 'two', message: 'd' });
        await crew!.inbox({});
        return { kind: 'failed', reason: 'exit', message: 'no' };
      },
    }); // prettier-ignore
    expect(given).toEqual([
      [['a', undefined], ['b', undefined], ['c', undefined]],
      [['d', true]],
    ]); // prettier-ignore
  });

  it('keeps what was given to a caller that had hung up for the next call', async () => {
    const sent = Promise.withResolvers<void>();
    await driveAttempts(TWO, {
      one: async ({ crew }) => {
        await crew!.send({ to: 'two', message: 'a' });
        sent.resolve();
      },
      two: async ({ crew }) => {
        await sent.promise;
        await crew!.inbox({}, AbortSignal.abort());
        expect((await crew!.inbox({})).messages).toMatchObject([{ body: 'a' }]);
        expect((await crew!.inbox({})).messages).toEqual([]);
      },
    });
  });

  it('comes in portions, one message at least', async () => {
    const sent = Promise.withResolvers<void>();
    const message = 'x'.repeat(60_000);
    await driveAttempts(TWO, {
      one: async ({ crew }) => {
        for (let n = 0; n < 6; n++) await crew!.send({ to: 'two', message });
        sent.resolve();
      },
      two: async ({ crew }) => {
        await sent.promise;
        const first = await crew!.inbox({});
        expect([first.messages.length, first.left]).toEqual([4, 2]);
        expect(first.messages[3]!.body).toBe(message);
        expect((await crew!.inbox({})).messages).toHaveLength(2);
      },
    });
  });
});

describe('an agent that waits in its inbox', () => {
  const talk = async (
    two: (attempt: Attempt) => Promise<void>,
    seen?: Parameters<typeof driveAttempts>[2],
    urgent = false,
  ): Promise<Event[]> => {
    const one = async ({ crew }: Attempt): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 200)); // the other waits by then
      await crew!.send({ to: 'two', message: 'a', urgent });
    };
    return driveAttempts(TWO, { one, two }, seen);
  };

  it('has a message in one transaction: sent, delivered and read', async () => {
    const transactions: string[] = [];
    await talk(
      async ({ crew }) => {
        expect((await crew!.inbox({ wait: 30 })).messages).toMatchObject([{ body: 'a' }]);
        expect((await crew!.inbox({})).messages).toEqual([]);
      },
      (event, _, together) => {
        if (event.type === 'message.sent') transactions.push(together.map(({ type }) => type).join(' '));
      },
    );
    expect(transactions).toEqual(['message.sent message.delivered wait.ended message.read']);
  });

  it('is not told of it a second time, urgent or not', async () => {
    const heard: string[] = [];
    const events = await talk(
      async (attempt) => {
        const stop = attempt.onSteer((text) => void heard.push(text));
        expect((await attempt.crew!.inbox({ wait: 30 })).messages).toMatchObject([{ body: 'a' }]);
        await new Promise((resolve) => setTimeout(resolve, 100));
        stop();
      },
      undefined,
      true,
    );
    expect(heard).toEqual([]);
    expect(events.filter(({ type }) => type === 'message.read')).toHaveLength(1);
  });

  it('has it with its next call where it hung up in that very moment', async () => {
    const left = new AbortController();
    await talk(
      async ({ crew }) => {
        await crew!.inbox({ wait: 30 }, left.signal).catch(() => {});
        expect(left.signal.aborted).toBe(true);
        expect((await crew!.inbox({})).messages).toMatchObject([{ body: 'a' }]);
        expect((await crew!.inbox({})).messages).toEqual([]);
      },
      ({ type }) => {
        if (type === 'message.read') left.abort();
      },
    );
  });
});

describe('an agent that does not look', () => {
  const tasks = { one: { run: 'true' }, two: { run: 'true' } };

  it('is told with whatever else it asks, and no longer once it has looked', async () => {
    const sent = Promise.withResolvers<void>();
    await driveAttempts({ tasks }, {
      one: async ({ crew }) => {
        await crew!.send({ to: 'two', message: 'a' });
        await crew!.send({ to: 'two', message: 'b' });
        sent.resolve();
      },
      two: async (attempt) => {
        await sent.promise;
        expect(attempt.notice!('send')).toBe('2 messages wait: from one; call inbox');
        expect(attempt.notice!('inbox')).toBeUndefined();
        await attempt.crew!.inbox({});
        expect(attempt.notice!('send')).toBeUndefined();
      },
    }); // prettier-ignore
  });

  it('is spoken to where it can be: one line until it looks, and what is urgent at once', async () => {
    const heard: string[] = [];
    const listens = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    let isStale: (() => boolean) | undefined;
    const events = await driveAttempts({ tasks }, {
      one: async ({ crew }) => {
        await crew!.send({ to: 'two', message: 'early' });
        await listens.promise;
        for (const message of ['a', 'b']) await crew!.send({ to: 'two', message });
        await crew!.send({ to: 'two', message: 'stop!', urgent: true });
        sent.resolve();
      },
      two: async (attempt) => {
        const stop = attempt.onSteer((text, about) => {
          heard.push(text);
          isStale ??= about?.isStale?.bind(about);
        });
        listens.resolve();
        await sent.promise;
        await expect.poll(() => heard.length).toBe(2);
        expect(isStale!()).toBe(false);
        expect((await attempt.crew!.inbox({})).messages.map(({ body }) => body)).toEqual(['early', 'a', 'b']);
        expect(isStale!()).toBe(true);
        stop();
      },
    }); // prettier-ignore
    expect(heard).toEqual([
      '1 message waits: from one; call inbox',
      'Urgent message one+m4 from one, another agent of this run:\nstop!',
    ]);
    expect(events.find((event) => event.type === 'message.read')).toMatchObject({
      ids: ['one+m4'],
      steered: true,
    });
  });
});

describe('bad messages', () => {
  /** Sends from a task beside another that waits until that is done. */
  async function send(body: (attempt: Attempt) => Promise<void>): Promise<Event[]> {
    const done = Promise.withResolvers<void>();
    const source = { tasks: { one: { run: 'true' }, two: { run: 'true' } } };
    return await driveAttempts(source, {
      one: (attempt) => body(attempt).finally(() => done.resolve()),
      two: () => done.promise,
    });
  }

  it('are refused with what is wrong with them', async () => {
    await send(async ({ crew }) => {
      await expect(crew!.send({ to: 'two' })).rejects.toThrow('needs a text (message) or JSON (data)');
      await expect(crew!.send({ to: 'two', message: 'a', data: {} })).rejects.toThrow('one of the two');
      await expect(crew!.send({ to: 'nobody', message: 'a' })).rejects.toThrow(
        'the message was not sent: there is no task or agent "nobody"; tasks: two; or all, children, parent',
      );
      await expect(crew!.send({ to: 'one', message: 'a' })).rejects.toThrow('one is your own task');
    });
  });

  it('of more than 64 KB leave nothing in the journal', async () => {
    const events = await send(async ({ crew }) => {
      const message = 'x'.repeat(10 * 1024 * 1024);
      await expect(crew!.send({ to: 'two', message })).rejects.toThrow('65536 is the most');
      await expect(crew!.send({ to: 'two', message: '\n'.repeat(40_000) })).rejects.toThrow('80002 bytes');
    });
    expect(events.filter(({ type }) => type.startsWith('message.'))).toEqual([]);
  });

  it('that come too fast are refused, and the others arrive', async () => {
    const events = await send(async ({ crew }) => {
      const all = Array.from({ length: 10_000 }, () => crew!.send({ to: 'two', message: 'a' }));
      const ended = await Promise.allSettled(all);
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
      expect(ended.at(-1)).toMatchObject({
        reason: { code: 'busy', message: expect.stringContaining('100 messages within 10 seconds') },
      });
    });
    expect(events.filter(({ type }) => type === 'message.delivered')).toHaveLength(100);
  });
});
