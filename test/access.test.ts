/** Asking for more: who is asked, what is answered, and what stays granted. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Decision, EventOf, Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { openCrew } from '../src/crew/crew.ts';
import { workflow } from '../src/definition/builder.ts';
import type { Attempt } from '../src/attempt/attempt.ts';
import type { CrewTools } from '../src/crew/tools.ts';
import { crewTools } from './fixtures/crew-tools.ts';
import { startDecided } from './fixtures/decided-run.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';

type Agents = NonNullable<WorkflowSource['agents']>;
type Scope = NonNullable<Agents[string]['scope']>;

function agent(scope: Scope): Agents[string] {
  return { runtime: 'cli', command: 'true', scope };
}

function asks(task: string, ...globs: string[]): Fact {
  return { type: 'access.requested', task, attempt: 1, id: `${task}+1`, globs };
}

function ends(task: string): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1 };
}

function answersOf(decisions: Decision[]): EventOf<'access.answered'>[] {
  return decisions.filter((decision) => decision.type === 'access.answered');
}

describe('an owner that is sent a diff', () => {
  const start = (): ReturnType<typeof startDecided> => {
    const agents = {
      a: agent({ write: ['a/**'], grant: 'owner' }),
      b: agent({ write: ['b/y'], shared: ['b/x'] }),
      c: agent({ write: [], shared: ['b/x'] }),
    };
    return startDecided({
      agents,
      tasks: {
        one: { agent: 'a', prompt: 'Go.' },
        two: { agent: 'b', prompt: 'Go.' },
        three: { agent: 'c', prompt: 'Go.' },
      },
    });
  };
  const asked: Fact = {
    type: 'access.requested',
    task: 'one',
    attempt: 1,
    id: 'one+1',
    globs: ['b/x'],
    patch: 'a diff',
  };
  const says = (owner: string, answer: 'yes' | 'applied'): Fact => ({
    type: 'access.said',
    task: 'one',
    attempt: 1,
    id: 'one+1',
    owner,
    answer,
  });

  it('has made the change: nothing is granted, whatever others who own it would say', () => {
    const { state, take } = start();
    expect(take(asked)).toMatchObject([{ type: 'access.asked', owners: ['two', 'three'] }]);
    expect(take(says('two', 'applied'))).toMatchObject([
      {
        type: 'access.answered',
        answer: 'applied',
        by: 'owner two',
        why: expect.stringContaining('comes with its result'),
      },
    ]);
    expect([state.nodes.get('one')!.granted, state.requests.size]).toEqual([[], 0]);
  });

  it('never answers: a person is asked once its time is up, sees the diff, and nobody waits for ever', () => {
    const { take } = start();
    const [waits] = take(asked);
    expect(waits).toMatchObject({ timeoutMs: 120_000 });
    take(says('two', 'yes'));
    const unanswered: Fact = { type: 'access.unanswered', task: 'one', attempt: 1, id: 'one+1' };
    expect(take(unanswered)).toMatchObject([
      { type: 'question.asked', diff: 'a diff', default: 'no', timeoutMs: 600_000 },
    ]);
    expect(take(says('three', 'applied'))).toEqual([]); // too late
    const late: Fact = { type: 'question.answered', id: 'one+1', answer: 'no', by: 'time-out' };
    expect(answersOf(take(late))).toMatchObject([{ answer: 'no', why: 'nobody answered in time' }]);
  });

  it('shows a person no more of a long one than fits', () => {
    const agents = { a: agent({ write: [] }) };
    const { take } = startDecided({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } });
    const [question] = take({ ...asked, patch: 'x'.repeat(60_000) });
    expect((question as EventOf<'question.asked'>).diff!.length).toBeLessThan(4100);
  });
});

describe('a policy', () => {
  const cases: [what: string, scope: Scope, globs: string[], answer: 'yes' | 'no', by: string, why: RegExp][] = [
    ['says no at once where it is never', { write: ['a/**'], grant: 'never' }, ['b/x'], 'no', 'policy', /grant: never/],
    ['says yes to what it lists', { write: [], grant: ['b/**'] }, ['b/x', 'b/c/**'], 'yes', 'policy', /names it/],
    ['says no where one of several is not listed', { write: [], grant: ['b/**'] }, ['b/x', 'c/x'], 'no', 'policy', /name c\/x/],
    ['says no to more than is listed', { write: [], grant: ['b/*.md'] }, ['b/**'], 'no', 'policy', /name b/],
    ['says no to a choice of which one half is listed', { write: [], grant: ['b/**'] }, ['{b/x,c}'], 'no', 'policy', /name/],
    ['never gives what is hidden, whatever it lists', { write: [], hide: ['b/key'], grant: ['b/**'] }, ['b/**'], 'no', 'scope', /hidden/],
    ['is not asked for what may be changed already', { write: ['a/**'], grant: 'never' }, ['a/x'], 'yes', 'scope', /already/],
    ['is not asked for what is shared', { write: [], shared: ['LOG.md'], grant: 'never' }, ['LOG.md'], 'yes', 'scope', /already/],
    ["never gives bosun's own settings by a wide glob", { write: ['**'], grant: ['**'] }, ['.bosun/config.yaml'], 'no', 'scope', /only the workflow/],
    ["never gives bosun's own settings where no files are named", {}, ['.bosun/**'], 'no', 'scope', /only the workflow/],
    ["gives bosun's own settings that the workflow names", { write: [], grant: ['.bosun/agents/**'] }, ['.bosun/agents/a.md'], 'yes', 'policy', /names it/],
    ['is not asked where no files are named', { grant: 'never' }, ['a/x'], 'yes', 'scope', /may change all/],
  ]; // prettier-ignore
  it.each(cases)('%s', (_, scope, globs, answer, by, why) => {
    const { take } = startDecided({
      agents: { a: agent(scope) },
      tasks: { one: { agent: 'a', prompt: 'Go.' } },
    });
    const [answered, ...more] = take(asks('one', ...globs));
    expect(answered).toMatchObject({ type: 'access.answered', id: 'one+1', answer, by });
    expect((answered as EventOf<'access.answered'>).why).toMatch(why);
    expect(more).toEqual([]);
  });

  it('gives of a plain path no more than it lists: the path could be a directory', () => {
    const agents = { a: agent({ write: [], grant: ['b/*'] }) };
    const { state, take } = startDecided({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } });
    expect(answersOf(take(asks('one', 'b/x')))).toMatchObject([{ answer: 'yes', globs: ['b/*'] }]);
    expect(state.nodes.get('one')!.granted).toEqual(['b/*']);
  });

  it.each(['ask', undefined] as const)('of %s asks a person, and says no when nobody answers', (grant) => {
    const agents = { a: agent({ write: [], ...(grant && { grant }) }) };
    const { state, take } = startDecided({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } });
    expect(take(asks('one', 'b/long/name', 'c'))).toEqual([
      {
        type: 'question.asked', id: 'one+1', task: 'one', text: 'May it change 2 paths: c, b/long/name?',
        default: 'no', timeoutMs: 600_000, globs: ['b/long/name', 'c'],
      },
    ]); // prettier-ignore
    expect(state.nodes.get('one')!.state).toBe('running');
    const late: Fact = { type: 'question.answered', id: 'one+1', answer: 'no', by: 'time-out' };
    expect(answersOf(take(late))).toMatchObject([
      { answer: 'no', by: 'time-out', why: 'nobody answered in time' },
    ]);
    expect(state.questions.size).toBe(0);
  });

  it('keeps what a person granted, also for the attempts after, and tells what the person wrote', () => {
    const agents = { a: agent({ write: [] }) };
    const tasks = { one: { agent: 'a', prompt: 'Go.', retry: { attempts: 2 } } };
    const { state, take } = startDecided({ agents, tasks });
    take(asks('one', 'b/x'));
    const yes: Fact = {
      type: 'question.answered',
      id: 'one+1',
      answer: 'yes',
      by: 'person',
      note: 'only once',
    };
    expect(answersOf(take(yes))).toMatchObject([{ answer: 'yes', by: 'person', why: 'only once' }]);
    take({ ...(ends('one') as EventOf<'attempt.finished'>), outcome: { kind: 'lost' } });
    const node = state.nodes.get('one')!;
    expect([node.attempt, node.granted]).toEqual([2, ['b/x']]);
    const again: Fact = { type: 'access.requested', task: 'one', attempt: 2, id: 'one+2', globs: ['b/x'] };
    expect(answersOf(take(again))).toMatchObject([{ answer: 'yes', by: 'scope' }]);
  });
});

describe('an owner', () => {
  const agents = {
    mine: agent({ write: ['a/**'], grant: 'owner' }),
    theirs: agent({ write: ['b/**'], grant: 'never' }),
  };
  const tasks = {
    one: { agent: 'mine', prompt: 'Go.' },
    two: { agent: 'theirs', prompt: 'Go.' },
    three: { agent: 'theirs', prompt: 'Go.', needs: ['two'] },
  };
  const both = { one: tasks.one, two: tasks.two };
  const said = (answer: 'yes' | 'no', owner = 'two'): Fact => ({
    type: 'access.said', task: 'one', attempt: 1, id: 'one+1', owner, answer,
  }); // prettier-ignore

  it.each(['yes', 'no'] as const)('that runs is asked, and its %s counts', (answer) => {
    const { take } = startDecided({ agents, tasks: both });
    expect(take(asks('one', 'b/x'))).toMatchObject([
      { type: 'access.asked', id: 'one+1', owners: ['two'], timeoutMs: 120_000 },
    ]);
    expect(answersOf(take(said(answer)))).toMatchObject([{ answer, by: 'owner two' }]);
  });

  it('that has ended has nothing against it, also when it ends after it was asked', () => {
    const first = startDecided({ agents, tasks: both });
    first.take(ends('two'));
    expect(answersOf(first.take(asks('one', 'b/x')))).toMatchObject([
      { answer: 'yes', by: 'owner', why: 'its owner two has ended' },
    ]);
    const second = startDecided({ agents, tasks: both });
    second.take(asks('one', 'b/x'));
    expect(answersOf(second.take(ends('two')))).toMatchObject([{ answer: 'yes', by: 'owner' }]);
  });

  it('that says nothing in time leaves it to a person, and cannot answer any more', () => {
    const { take } = startDecided({ agents, tasks: both });
    take(asks('one', 'b/x'));
    const asked = take({ type: 'access.unanswered', task: 'one', attempt: 1, id: 'one+1' });
    expect(asked).toMatchObject([{ type: 'question.asked', id: 'one+1', default: 'no' }]);
    expect(take(said('yes'))).toEqual([]);
    expect(answersOf(take(ends('one')))).toMatchObject([{ answer: 'no', by: 'ended' }]);
  });

  it.each([
    ['is nobody', both, 'c/x'],
    ['has not started', tasks, 'b/x'],
  ] as const)('that %s leaves it to a person', (_, chosen, glob) => {
    const { take } = startDecided({ agents, tasks: chosen });
    expect(take(asks('one', glob))).toMatchObject([{ type: 'question.asked', id: 'one+1' }]);
  });

  it('is found in a workflow that has not begun yet', () => {
    const nested = workflow({ name: 'n', agents, tasks: { inner: tasks.two } });
    const later = { needs: ['one'], attempts: 1, uses: 'n.yaml' };
    const { take } = startDecided({ agents, tasks: { ...both, three: { run: 'true' } } }, { later, nested });
    take(ends('two'));
    expect(take(asks('one', 'b/x'))).toMatchObject([{ type: 'question.asked' }]);
  });

  it('is not whoever was not asked', () => {
    const { take } = startDecided({ agents, tasks: { ...both, four: { run: 'true' } } });
    take(asks('one', 'b/x'));
    expect(take(said('no', 'four'))).toEqual([]);
    expect(take(said('no', 'one'))).toEqual([]);
  });
});

describe('a request', () => {
  it('is refused when the run is cancelled, and when its attempt has ended', () => {
    const agents = { a: agent({ write: [] }) };
    const run = startDecided({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } });
    run.take(asks('one', 'b/x'));
    const cancelled = run.take({ type: 'run.cancelling', mode: 'graceful', by: 'test' });
    expect(answersOf(cancelled)).toMatchObject([{ answer: 'no', by: 'ended' }]);
    const stale: Fact = { type: 'access.requested', task: 'one', attempt: 0, id: 'one+2', globs: ['b/x'] };
    expect(answersOf(run.take(stale))).toMatchObject([{ answer: 'no', by: 'ended' }]);
  });

  it('is answered to the attempt once the answer is in the journal', async () => {
    const agents = { a: agent({ write: [], grant: ['b/**'] }) };
    const events = await driveAttempts({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } }, {
      one: async (attempt) => {
        expect(attempt.granted).toEqual([]);
        expect(await attempt.crew!.request_access({ paths: ['./b/x'] })).toMatchObject({ granted: true, globs: ['b/x'] });
        expect(attempt.granted).toEqual(['b/x']);
        expect(await attempt.crew!.request_access({ paths: ['c/x'] })).toMatchObject({ granted: false, globs: ['c/x'] });
      },
    }); // prettier-ignore
    expect(events.map(({ type }) => type)).toEqual([
      'attempt.started', 'access.requested', 'access.answered', 'access.requested', 'access.answered',
      'attempt.finished', 'task.finished', 'run.finished',
    ]); // prettier-ignore
  });

  it('is answered by a person through the run, or by the owner through its inbox', async () => {
    const agents = {
      a: agent({ write: ['a/**'], grant: 'owner' }),
      b: agent({ write: ['b/**'] }),
    };
    const tasks = {
      other: { run: 'true' },
      one: { agent: 'a', prompt: 'Go.' },
      two: { agent: 'b', prompt: 'Go.' },
    };
    let other: Attempt | undefined;
    const done = Promise.withResolvers<void>();
    await driveAttempts(
      { agents, tasks },
      {
        other: async (attempt) => {
          other = attempt;
          await done.promise;
        },
        one: async (attempt) => {
          const answer = await attempt.crew!.request_access({ paths: ['b/x'] });
          expect(answer).toEqual({ granted: true, why: 'two, which owns it, says yes', globs: ['b/x'] });
          expect((await attempt.crew!.inbox({})).requests).toEqual([]);
          expect(await attempt.crew!.answer_access({ id: 'one+1', answer: 'yes' })).toMatchObject({
            accepted: false,
          });
          expect(await attempt.crew!.request_access({ paths: ['c/x'] })).toMatchObject({
            granted: true,
            why: 'person said yes',
          });
          done.resolve();
        },
        two: async (attempt) => {
          while ((await attempt.crew!.inbox({})).requests.length === 0)
            await new Promise((resolve) => setTimeout(resolve, 5));
          expect((await attempt.crew!.inbox({})).requests).toEqual([
            { id: 'one+1', task: 'one', globs: ['b/x'] },
          ]);
          expect(await attempt.crew!.answer_access({ id: 'one+2', answer: 'yes' })).toMatchObject({
            accepted: false,
          });
          expect((await other!.crew!.inbox({})).requests).toEqual([]);
          expect(await other!.crew!.answer_access({ id: 'one+1', answer: 'no' })).toMatchObject({
            accepted: false,
          });
          expect(await attempt.crew!.answer_access({ id: 'one+1', answer: 'yes' })).toMatchObject({
            accepted: true,
          });
          await done.promise;
        },
      },
      (event, running) => {
        if (event.type === 'question.asked') running.answer(event.id, { answer: 'yes' }, 'person');
      },
    );
  });

  it('goes over the sockets of the attempts, from one command to another', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-access-'));
    await using afterwards = new AsyncDisposableStack();
    afterwards.defer(() => rm(directory, { recursive: true }));
    const agents = { a: agent({ write: ['a/**'], grant: 'owner' }), b: agent({ write: ['b/**'] }) };
    const tasks = { one: { agent: 'a', prompt: 'Go.' }, two: { agent: 'b', prompt: 'Go.' } };
    const said: Record<string, string> = {};
    /** Lives an attempt as this script, which has the command and the socket. */
    const script =
      (text: string) =>
      async (attempt: Attempt): Promise<void> => {
        const socketPath = path.join(directory, `${attempt.start.task}.sock`);
        await using _ = await openCrew({
          socketPath,
          tools: crewTools(attempt.crew as unknown as Partial<CrewTools>),
        });
        const PATH = `${path.resolve('bin')}:${process.env.PATH}`;
        const env = { PATH, HOME: tmpdir(), BOSUN_SOCKET: socketPath };
        said[attempt.start.task] = (await promisify(execFile)('sh', ['-c', text], { env })).stdout;
      };
    const events = await driveAttempts(
      { agents, tasks },
      {
        one: script('bosun agent request-access b/x || echo refused'),
        two: script(
          'until id=$(bosun agent inbox | cut -d" " -f1); [ "$id" ]; do sleep 0.1; done; bosun agent answer "$id" yes',
        ),
      },
    );
    expect(said).toEqual({
      one: 'granted: b/x (two, which owns it, says yes)\n',
      two: 'answered: yes, for one\n',
    });
    expect(events.filter(({ type }) => type === 'access.answered')).toMatchObject([{ by: 'owner two' }]);
  });

  it('has limits, which are told and leave nothing in the journal', async () => {
    const agents = { a: agent({ write: [], grant: 'never' }) };
    const events = await driveAttempts({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } }, {
      one: async (attempt) => {
        await expect(attempt.crew!.request_access({ paths: ['../x'] })).rejects.toThrow('leads out');
        await expect(attempt.crew!.request_access({ paths: ['a\nb'] })).rejects.toThrow('does not show');
        const braces = Array.from({ length: 5 }, (_, n) => `${n}/{a,b,c,d,e,f,g}{a,b,c,d,e,f,g}`);
        await expect(attempt.crew!.request_access({ paths: braces })).rejects.toThrow('more than 200');
        const asked = Array.from({ length: 101 }, (_, n) => attempt.crew!.request_access({ paths: [`g${n}`] }));
        const whys = (await Promise.all(asked)).map(({ why }) => why);
        expect(whys.filter((why) => why.includes('grant: never'))).toHaveLength(100);
        expect(whys.at(-1)).toContain('asked 100 times');
      },
    }); // prettier-ignore
    expect(events.filter(({ type }) => type === 'access.requested')).toHaveLength(100);
  });

  it('comes to an owner in portions that can be read, one request at least', async () => {
    const agents = {
      a: agent({ write: ['a/**'], grant: 'owner' }),
      b: agent({ write: ['b/**'] }),
    };
    const tasks = { one: { agent: 'a', prompt: 'Go.' }, two: { agent: 'b', prompt: 'Go.' } };
    const long = Array.from({ length: 50 }, (_, n) => `b/${String(n).padStart(900, 'x')}`);
    const inJournal = Promise.withResolvers<void>();
    let count = 0;
    await driveAttempts(
      { agents, tasks },
      {
        one: async ({ crew }) => {
          const asked = [long, long.slice(1), ['b/x']].map((paths) => crew!.request_access({ paths }));
          expect(await Promise.all(asked)).toMatchObject([{ granted: true }, {}, {}]);
        },
        two: async ({ crew }) => {
          await inJournal.promise;
          const { requests } = await crew!.inbox({});
          expect(requests.map(({ id }) => id)).toEqual(['one+1']);
          await crew!.answer_access({ id: 'one+1', answer: 'yes' });
          let left = requests;
          for (let n = 0; n < 200 && left.length < 2; n++) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            left = (await crew!.inbox({})).requests;
          }
          expect(left.map(({ id }) => id)).toEqual(['one+2', 'one+3']);
        },
      },
      ({ type }) => {
        if (type === 'access.requested' && ++count === 3) inJournal.resolve();
      },
    );
  });

  it('is refused when the attempt ends without waiting for the answer', async () => {
    const agents = { a: agent({ write: [] }) };
    let answer: unknown;
    await driveAttempts({ agents, tasks: { one: { agent: 'a', prompt: 'Go.' } } }, {
      one: async (attempt) => {
        void attempt.crew!.request_access({ paths: ['b/x'] }).then((said) => (answer = said));
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    }); // prettier-ignore
    expect(answer).toMatchObject({ granted: false, why: 'the attempt has ended' });
  });
});
