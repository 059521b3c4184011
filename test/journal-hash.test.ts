import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import type { AgentEvent } from '../src/contract/model.ts';
import { journalHash } from '../src/report/journal-hash.ts';
import { bosun } from './fixtures/cli.ts';
import { play, workflowOf } from './fixtures/history.ts';
import { makeRepository } from './fixtures/repository.ts';

function recorded(events: Event[], atMs = 0): Recorded[] {
  return events.map((event, n) => ({ run: 'w-1', seq: n + 1, atMs: atMs + n, event }));
}

function hashOf(events: Event[]): string {
  return journalHash(recorded(events));
}

const CREATED: Event = {
  type: 'run.created',
  id: 'w-1',
  workflow: workflowOf([], 1, false),
  source: 'test',
  inputs: {},
  base: 'c0',
  dirty: false,
};

function printed(task: string, attempt: number, text: string): Event {
  return { type: 'attempt.output', task, attempt, stream: 'stdout', text };
}

function said(...events: AgentEvent[]): Event[] {
  return [
    CREATED,
    ...events.map((event) => ({ type: 'attempt.agent', task: 'a', attempt: 1, event })),
  ] as Event[];
}

const WORKFLOW = (word: string): string => `
name: twice
concurrency: 3
tasks:
  one: { run: 'pwd; date; date +%s; git log -1; mktemp -u; ls -la; sleep 0.1; echo one > one.txt; echo ${word}' }
  two: { run: 'echo "$BOSUN_RUN" >&2; echo two > two.txt' }
  bad: { run: 'echo no; exit 3', on-failure: continue }
  all: { needs: [one, two], run: 'cat one.txt two.txt > all.txt', check: 'test -s all.txt' }
`;

async function runOf(path: string): Promise<Recorded[]> {
  const { stdout } = await bosun(path, 'run', '--json');
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
}

describe('the hash of a journal', () => {
  it('is the same with waits, warnings, estimates, and whatever the program of an agent logs', () => {
    const story = said({ kind: 'started' }, { kind: 'text', text: 'done' });
    const use = {
      provider: 'p',
      model: 'm',
      tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
      usd: 1,
    };
    const used: Event = { type: 'model.used', task: 'a', attempt: 1, ...use };
    const log = (text: string): Event => ({ ...printed('a', 1, text), stream: 'stderr' }) as Event;
    const check = (text: string): Event => ({ ...printed('a', 1, text), stream: 'check' }) as Event;
    const quiet = hashOf([...story, used, log('took 7 ms')]);
    const busy: Event[] = [
      { type: 'model.waiting', provider: 'p', delayMs: 999, why: 'p rate limit' },
      { type: 'budget.warned', account: 'run', unit: 'usd', spent: 4, limit: 5 },
      { ...used, estimated: true },
      log('took 8 ms'),
      log('and one more line'),
    ];
    expect(hashOf([...story, used, ...busy])).toBe(quiet);
    expect(hashOf([...story, used, used])).not.toBe(quiet);
    expect(hashOf([...story, used, check('no')])).not.toBe(quiet);
    expect(hashOf([CREATED, log('x')])).not.toBe(hashOf([CREATED, log('y')])); // a command's own words count
  });

  it('is the same for two runs of the same, in one repository and in another', async () => {
    await using first = await makeRepository({ files: { 'bosun.yaml': WORKFLOW('x') } });
    await using other = await makeRepository({ name: 'elsewhere', files: { 'bosun.yaml': WORKFLOW('x') } });
    await using changed = await makeRepository({ files: { 'bosun.yaml': WORKFLOW('x') } });
    const one = await runOf(first.path);
    expect(one.length).toBeGreaterThan(20);
    expect(journalHash(await runOf(first.path))).toBe(journalHash(one));
    expect(journalHash(await runOf(other.path))).toBe(journalHash(one));
    await changed.write({ 'bosun.yaml': WORKFLOW('y') });
    await changed.git('commit', '--quiet', '--all', '-m', 'other');
    expect(journalHash(await runOf(changed.path))).not.toBe(journalHash(one));
  });

  it('does not depend on whether it waited in a queue, or for whom it was started', () => {
    const queued = { ...CREATED, queued: { by: 'anna' }, parent: { run: 'x-1', task: 'a' } } as Event;
    expect(hashOf([queued])).toBe(hashOf([CREATED]));
    expect(hashOf([{ ...CREATED, inputs: { a: 'b' } }])).not.toBe(hashOf([CREATED]));
  });

  it('does not depend on the order in which parallel tasks came', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9999), { minLength: 2, maxLength: 8 }),
        fc.array(fc.nat(99), { maxLength: 30 }),
        fc.infiniteStream(fc.nat(99)),
        (shapes, choices, chance) => {
          const { events } = play(workflowOf(shapes, 3, false), choices, () => {});
          expect(hashOf(shuffled(events, chance))).toBe(hashOf(events));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not depend on how far agents say they are', () => {
    const progress: Event = { type: 'attempt.progress', task: 'a', attempt: 1, text: 'on it', percent: 5 };
    const before = [CREATED, printed('a', 1, 'x')];
    expect(hashOf([...before, progress])).toBe(hashOf(before));
  });

  it('does not depend on how output was cut into pieces, but on the output', () => {
    const pieces = (...texts: string[]): Event[] => [CREATED, ...texts.map((text) => printed('a', 1, text))];
    const whole = hashOf(pieces('one\ntwo at 12:30:01\n'));
    expect(hashOf(pieces('one\ntwo', ' at 12:3', '1:59\n'))).toBe(whole);
    const base64 = Buffer.from('one\n').toString('base64');
    const mixed: Event = { type: 'attempt.output', task: 'a', attempt: 1, stream: 'stdout', base64 };
    expect(hashOf([CREATED, mixed, printed('a', 1, 'two at 01:00:00\n')])).toBe(whole);
    expect(hashOf(pieces('one\ntoo at 12:30:01\n'))).not.toBe(whole);
    expect(hashOf([CREATED, printed('a', 2, 'one\ntwo at 12:30:01\n')])).not.toBe(whole);
    expect(hashOf([CREATED, printed('b', 1, 'one\ntwo at 12:30:01\n')])).not.toBe(whole);
  });

  it('leaves out who, when, where and in what, and keeps what came of it', () => {
    const finished = (more: object): Event[] => [
      CREATED,
      {
        type: 'attempt.finished',
        task: 'a',
        attempt: 1,
        outcome: { kind: 'done' },
        durationMs: 5,
        output: { base: 'kept', took: 3 },
        collected: {
          commit: 'c1',
          changed: [{ path: 'x', change: 'added' }],
          changedCount: 1,
          refused: [],
          artifacts: [],
        },
        ...more,
      },
    ];
    const plain = hashOf(finished({}));
    const collected = {
      changed: [{ path: 'x', change: 'added' }],
      changedCount: 1,
      refused: [],
      artifacts: [],
    };
    expect(hashOf(finished({ durationMs: 9, collected: { commit: 'c2', ...collected } }))).toBe(plain);
    const isolated: Event = { type: 'run.isolation', kind: 'fences', uid: 7, notes: [] };
    const workspace: Event = {
      type: 'attempt.workspace',
      task: 'a',
      attempt: 1,
      workspace: 'agent-x',
      base: 'c',
    };
    expect(hashOf([...finished({}), isolated, workspace])).toBe(plain);
    for (const other of [
      { output: { base: 'other', took: 3 } },
      { output: { base: 'kept', took: 4 } },
      { outcome: { kind: 'cancelled' } },
      { collected: { commit: 'c1', ...collected, changed: [{ path: 'y', change: 'added' }] } },
    ])
      expect(hashOf(finished(other))).not.toBe(plain);
  });

  it('takes the answer to a question as a part of its task, whoever gave it', () => {
    const question = (task: string): Event => ({
      type: 'question.asked',
      id: task,
      task,
      text: '?',
      default: 'no',
    });
    const answer = (id: string, by: string, answer: 'yes' | 'no' = 'yes'): Event => ({
      type: 'question.answered',
      id,
      answer,
      by,
    });
    const asked = [CREATED, question('a'), question('b')];
    const one = hashOf([...asked, answer('a', 'me'), answer('b', 'me')]);
    expect(hashOf([...asked, answer('b', 'you'), answer('a', 'time-out')])).toBe(one);
    expect(hashOf([...asked, answer('b', 'you', 'no'), answer('a', 'you')])).not.toBe(one);
  });

  it('is the same whoever answered an agent, and another where nobody did', () => {
    const answered = (by: string, why = `${by} said yes`): string => {
      const at = { task: 'a', attempt: 1, id: 'a+1', answer: 'yes', by } as const;
      return hashOf([
        CREATED,
        { type: 'attempt.answered', ...at },
        { type: 'access.answered', ...at, globs: ['x'], why },
      ]);
    };
    expect(answered('anna')).toBe(answered('person')); // as earlier versions wrote it
    expect(answered('program deploy-bot')).toBe(answered('anna'));
    expect(answered('owner b')).not.toBe(answered('anna'));
  });

  it('hears what agents say without their ids, sessions and pieces', () => {
    const told = (n: number, end = 'done'): AgentEvent[] => [
      { kind: 'started', session: `s-${n}`, model: 'm-1' },
      { kind: 'text', text: 'I look' },
      {
        kind: 'tool-call',
        id: `any ${n}`,
        name: 'Read',
        input: `/srv/.git/bosun/sandbox/workspaces/agent-x-2026111${n}T020304050Z/a`,
      },
      { kind: 'tool-call', id: `other ${n}`, name: 'Read', input: 'b' },
      { kind: 'tool-result', id: `any ${n}`, isError: false, text: `took ${n} ms` },
      { kind: 'tool-result', id: `other ${n}`, isError: false, text: 'b' },
      { kind: 'usage', tokens: { input: n, output: 1, cacheRead: 0, cacheWrite: 0 } },
      { kind: 'text', text: end },
      { kind: 'usage', tokens: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0 } },
      { kind: 'finished', turns: 2, toolCalls: 2 },
    ];
    const one = hashOf(said(...told(1)));
    const [started, , ...rest] = told(2);
    const pieces: AgentEvent[] = [
      started!,
      { kind: 'text', text: 'I ' },
      { kind: 'text', text: 'look' },
      ...rest,
    ];
    [pieces[5], pieces[6]] = [pieces[6]!, pieces[5]!]; // parallel tools end as they like
    expect(hashOf(said(...pieces))).toBe(one);
    expect(hashOf(said(...told(1, 'failed')))).not.toBe(one);
    expect(hashOf(said(...told(1).slice(1)))).not.toBe(one);
  });

  it('counts what was used, in whatever order the answers ended', () => {
    const used = (...inputs: number[]): Event[] => [
      CREATED,
      ...inputs.map(
        (input, at) =>
          ({
            type: 'model.used',
            task: 'a',
            attempt: 1,
            model: 'm',
            tokens: { input },
            note: `${at}`,
          }) as unknown as Event,
      ),
    ];
    expect(hashOf(used(1, 2))).toBe(hashOf(used(2, 1)));
    expect(hashOf(used(1, 2))).not.toBe(hashOf(used(1, 3)));
    expect(hashOf(used(1, 1))).not.toBe(hashOf(used(1)));
  });
});

/** The same events, those of each task and those of the run in their order. */
function shuffled(events: Event[], chance: Iterator<number>): Event[] {
  const asked = new Map(
    events.flatMap((event) => (event.type === 'question.asked' ? [[event.id, event.task]] : [])),
  );
  const [created, ...rest] = events;
  const lines = Map.groupBy(rest, (event) =>
    'task' in event ? event.task : event.type === 'question.answered' ? asked.get(event.id) : undefined,
  );
  const mixed: Event[] = [created!];
  while (mixed.length < events.length) {
    const left = [...lines.values()].filter((line) => line.length > 0);
    mixed.push(left[(chance.next().value as number) % left.length]!.shift()!);
  }
  return mixed;
}
