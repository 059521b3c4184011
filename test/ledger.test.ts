import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Admission, ModelUse } from '../src/contract/model.ts';
import { workflow } from '../src/definition/builder.ts';
import { TinyLoop, tokensOf } from './fixtures/tiny-loop.ts';

const AGENT = { runtime: 'codex', model: 'm' } as const;
const TASK = { agent: AGENT, prompt: 'Work.' };
const USE: ModelUse = { provider: 'p', model: 'm', tokens: tokensOf(1000, 1000), usd: 2 };

async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  let open = true;
  void promise.then(() => (open = false));
  await turn();
  await turn();
  return open;
}

function settled(granted: Admission, use: ModelUse | null = USE): void {
  if (!granted.isAdmitted) throw new Error(granted.message);
  granted.settle(use ?? undefined);
}

describe('a budget', () => {
  it('lets requests go until it is spent, then holds the next and asks once', async () => {
    const loop = new TinyLoop({ budget: { usd: 3 }, tasks: { a: TASK, b: TASK } });
    settled(await loop.admit('a'));
    settled(await loop.admit('a'));
    const held = [loop.admit('a'), loop.admit('b'), loop.admit('b')];
    expect(await Promise.all(held.map(isOpen))).toEqual([true, true, true]);
    expect(loop.of('question.asked').map(({ id, text }) => [id, text])).toEqual([
      ['run+budget', 'The run has used $4.00 of $3.00. Raise it to $6.00 and go on?'],
    ]);
    expect(loop.of('model.used')).toHaveLength(2);
  });

  it('that is spent leaves the places of those it holds to what costs nothing, and to nothing else', async () => {
    const run = 'true';
    const tasks = { a: TASK, model: TASK, command: { run }, last: { run } };
    const loop = new TinyLoop({ budget: { usd: 3 }, concurrency: 1, tasks });
    const started = (): string[] => loop.of('attempt.started').map(({ task }) => task);
    settled(await loop.admit('a'));
    settled(await loop.admit('a'));
    const held = loop.admit('a');
    expect(await isOpen(held)).toBe(true);
    expect(started()).toEqual(['a', 'command']);
    const done = { type: 'attempt.finished', attempt: 1, outcome: { kind: 'done' }, durationMs: 1 } as const;
    loop.submit({ ...done, task: 'command' });
    expect(started()).toEqual(['a', 'command', 'last']);
    loop.submit({ ...done, task: 'last' });
    loop.submit({ type: 'question.answered', id: 'run+budget', answer: 'yes', by: 'anna' });
    expect(loop.state.away).toBe(0); // it has its place again at once
    settled(await held);
    expect(started()).toEqual(['a', 'command', 'last']);
    loop.submit({ ...done, task: 'a' });
    expect(started()).toEqual(['a', 'command', 'last', 'model']);
  });

  it('of time that is spent starts nothing', async () => {
    const tasks = { a: TASK, command: { run: 'true' } };
    const loop = new TinyLoop({ budget: { minutes: 1 }, concurrency: 1, tasks });
    loop.nowMs = 61_000;
    loop.ledger.lookAtClock();
    const held = loop.admit('a');
    expect(await isOpen(held)).toBe(true);
    expect(loop.of('question.asked')).toHaveLength(1);
    expect(loop.of('attempt.started').map(({ task }) => task)).toEqual(['a']);
  });

  it('of a planner is shared by all agents that its plan makes up, whatever they run on', async () => {
    const planner = { ...AGENT, budget: { usd: 5, enforce: 'hard' } } as const;
    const tasks = { plan: { agent: 'planner', prompt: 'Plan.', expand: true }, other: TASK };
    const loop = new TinyLoop({ agents: { planner }, tasks });
    settled(await loop.admit('plan'));
    const inline = (runtime: 'codex' | 'opencode'): object => ({ ...TASK, agent: { ...planner, runtime } });
    const { tasks: expansion } = workflow({
      name: 'w',
      tasks: { a: inline('codex'), b: inline('opencode'), c: TASK },
    });
    loop.submit({
      type: 'attempt.finished',
      task: 'plan',
      attempt: 1,
      outcome: { kind: 'done' },
      expansion,
      durationMs: 1,
    });
    settled(await loop.admit('plan/a'));
    expect(await loop.admit('plan/b')).toMatchObject({
      isAdmitted: false,
      message: expect.stringMatching(/agent planner .*\$4\.00 of \$5\.00/) as string,
    });
    settled(await loop.admit('other'));
  });

  it.each([
    ['first', ['free', 'capped']],
    ['last', ['capped', 'free']],
  ])('of an agent that is written in a task is for that task alone, whoever asks %s', async (_, order) => {
    const capped = { ...AGENT, budget: { usd: 3, enforce: 'hard' } } as const;
    const loop = new TinyLoop({
      // called like a runtime, and like a task: these are other agents
      agents: { codex: { ...AGENT, budget: { usd: 1, enforce: 'hard' } }, capped: AGENT },
      tasks: { free: TASK, capped: { ...TASK, agent: capped }, named: { ...TASK, agent: 'capped' } },
    });
    for (const task of order) settled(await loop.admit(task));
    settled(await loop.admit('free'));
    settled(await loop.admit('named'));
    expect(await loop.admit('capped')).toMatchObject({
      isAdmitted: false,
      message: expect.stringContaining('the agent of task capped has used $2.00 of $3.00') as string,
    });
    settled(await loop.admit('free'));
  });

  it('of an agent that is written in a for-each is shared by its items', async () => {
    const agent = { ...AGENT, budget: { usd: 3, enforce: 'hard' } } as const;
    const loop = new TinyLoop({ tasks: { each: { ...TASK, agent, 'for-each': [1, 2] }, other: TASK } });
    settled(await loop.admit('each.1'));
    expect(await loop.admit('each.2')).toMatchObject({ isAdmitted: false });
    settled(await loop.admit('other'));
  });

  it('that a person set for the agents of a runtime, as earlier versions named them, holds for all of them together', async () => {
    const loop = new TinyLoop({ tasks: { a: TASK, b: TASK } });
    settled(await loop.admit('a'));
    loop.submit({ type: 'budget.set', account: 'agent:codex', limits: { usd: 3 }, by: 'person' });
    settled(await loop.admit('b'));
    expect(await isOpen(loop.admit('a'))).toBe(true);
    expect(loop.of('question.asked')).toMatchObject([
      { text: expect.stringContaining('$4.00 of $3.00') as string },
    ]);
  });

  it('is gone past, with a word, by a run that is to warn; a hard one is not, nor what all runs share', async () => {
    const tasks = { a: TASK, b: { ...TASK, budget: { usd: 1, enforce: 'hard' } } } as const;
    const loop = new TinyLoop({ budget: { usd: 3 }, tasks });
    loop.state.overBudget = 'warn';
    for (let n = 0; n < 3; n++) settled(await loop.admit('a'));
    expect(loop.of('question.asked')).toEqual([]);
    expect(loop.of('attempt.held')).toEqual([]);
    expect(loop.of('attempt.answered')).toMatchObject([{ answer: 'yes', by: 'policy', limit: 6 }]);
    expect(loop.of('budget.warned')).toMatchObject([
      { spent: 4, limit: 3 },
      { spent: 6, limit: 6 },
    ]);
    expect(loop.state.overruns).toEqual([
      { account: 'run', unit: 'usd', spent: 4, limit: 3, raisedTo: 6, atMs: 0 },
    ]);
    expect(await loop.admit('b')).toMatchObject({ isAdmitted: false });
    const mark = { account: 'all:day', unit: 'usd', spent: 3, limit: 2, raiseTo: 4, isHard: false } as const;
    const ask = { id: 'all:day+budget', text: 'More?', default: 'no', budget: mark };
    loop.submit({ type: 'attempt.asked', task: 'a', attempt: 1, ...ask });
    expect(loop.of('question.asked')).toMatchObject([{ id: 'all:day+budget' }]);
  });

  it('goes on with the very same requests once it is raised', async () => {
    const loop = new TinyLoop({ budget: { usd: 3 }, tasks: { a: TASK } });
    settled(await loop.admit('a'));
    settled(await loop.admit('a'));
    const held = loop.admit('a');
    await turn();
    loop.answer('run+budget', 'yes');
    settled(await held);
    expect(loop.of('attempt.answered')).toMatchObject([{ answer: 'yes', limit: 6 }]);
    const again = loop.admit('a');
    expect(await isOpen(again)).toBe(true);
    loop.submit({ type: 'budget.set', account: 'run', limits: { usd: 100 }, by: 'person' });
    settled(await again);
    expect(loop.state.questions.size).toBe(0);
  });

  it('that is refused ends the run, keeps its work, and can be raised before the run is gone on with', async () => {
    const loop = new TinyLoop({ budget: { usd: 2 }, tasks: { a: TASK, b: { ...TASK, needs: ['a'] } } });
    settled(await loop.admit('a'));
    const held = loop.admit('a');
    await turn();
    loop.answer('run+budget', 'no');
    expect(await held).toEqual({
      isAdmitted: false,
      message: 'the budget is spent: the run has used $2.00 of $2.00',
    });
    expect(loop.of('attempt.stopping')).toMatchObject([{ task: 'a', mode: 'graceful' }]);
    const outcome = { kind: 'cancelled' } as const;
    loop.submit({ type: 'attempt.finished', task: 'a', attempt: 1, outcome, durationMs: 1 });
    expect(loop.of('run.finished')).toEqual([
      { type: 'run.finished', state: 'cancelled', because: 'budget' },
    ]);
    loop.submit(
      { type: 'budget.set', account: 'run', limits: { usd: 10 }, by: 'person' },
      { type: 'run.resumed', by: 'person' },
    );
    settled(await loop.admit('a'));
    expect(loop.state.because).toBeUndefined();
  });

  it('overspends by no more than what is under way', async () => {
    const loop = new TinyLoop({ concurrency: 20, budget: { usd: 5 }, tasks: { a: TASK } });
    const under: Admission[] = [];
    for (let n = 0; n < 20; n++) void loop.admit('a').then((granted) => under.push(granted));
    await turn();
    // Each is expected to cost 1.5: the fourth goes, for 4.5 are promised and 5 allowed, and no other.
    expect(under).toHaveLength(4);
    for (const granted of under.splice(0)) settled(granted);
    await turn();
    expect(under).toHaveLength(0);
    expect(loop.state.spending.get('run')!.usd).toBe(8);
    expect(loop.of('question.asked')).toHaveLength(1);
  });

  it('waits for what is only promised, does not ask for it, and says so when it takes long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const loop = new TinyLoop({ budget: { usd: 2 }, tasks: { a: TASK } });
    const first = await loop.admit('a');
    const second = await loop.admit('a');
    const third = loop.admit('a');
    expect(await isOpen(third)).toBe(true);
    expect(loop.of('attempt.asked')).toEqual([]);
    expect(loop.of('attempt.held')).toEqual([]);
    vi.advanceTimersByTime(3000);
    expect(loop.of('attempt.held').map(({ text }) => text)).toEqual([
      'the run has used $0.00 of $2.00; the rest is reserved for requests under way',
    ]);
    settled(first, null); // it failed, and cost nothing
    settled(await third);
    settled(second);
  });

  it.each([
    ['tokens', { tokens: 3000 }, '4,000 tokens of 3,000 tokens'],
    ['requests', { requests: 2 }, '2 requests of 2 requests'],
  ] as const)('in %s is held, too', async (_, budget, words) => {
    const loop = new TinyLoop({ budget, tasks: { a: TASK } });
    settled(await loop.admit('a'));
    settled(await loop.admit('a'));
    expect(await isOpen(loop.admit('a'))).toBe(true);
    expect(loop.of('question.asked')[0]!.text).toContain(words);
  });

  it('in minutes counts attempts at the same time once, and asks also where no model is used', async () => {
    const loop = new TinyLoop({ budget: { minutes: 10 }, tasks: { a: TASK, b: TASK } });
    loop.nowMs = 9 * 60_000;
    loop.ledger.lookAtClock();
    expect(loop.of('budget.warned')).toMatchObject([{ unit: 'minutes', spent: 9, limit: 10 }]);
    expect(loop.of('attempt.asked')).toEqual([]);
    loop.nowMs = 10 * 60_000;
    loop.ledger.lookAtClock();
    expect(loop.of('question.asked')).toHaveLength(1);
    expect(await isOpen(loop.admit('b'))).toBe(true);
  });

  it('of an agent or of a task and those within it holds them alone', async () => {
    const loop = new TinyLoop({
      agents: { dev: { ...AGENT, budget: { usd: 2 } }, free: AGENT },
      tasks: {
        a: { agent: 'dev', prompt: 'Work.' },
        b: { agent: 'dev', prompt: 'Work.' },
        c: { agent: 'free', prompt: 'Work.' },
        each: { agent: 'free', prompt: 'Work.', 'for-each': [1, 2], budget: { usd: 2 } },
      },
    });
    settled(await loop.admit('a'));
    settled(await loop.admit('c'));
    settled(await loop.admit('each.1'));
    const held = [loop.admit('b'), loop.admit('each.2')];
    expect(await Promise.all(held.map(isOpen))).toEqual([true, true]);
    expect(loop.of('question.asked').map(({ id }) => id)).toEqual(['agent:dev+budget', 'task:each+budget']);
    settled(await loop.admit('c'));
    loop.answer('agent:dev+budget', 'no');
    expect(await held[0]).toMatchObject({ isAdmitted: false });
    expect(loop.state.cancelling).toBeUndefined();
  });

  it('warns once when most of it is used, and again after it was raised', async () => {
    const loop = new TinyLoop({ budget: { usd: 5 }, tasks: { a: TASK } });
    settled(await loop.admit('a'));
    expect(loop.of('budget.warned')).toEqual([]);
    settled(await loop.admit('a'));
    settled(await loop.admit('a'));
    expect(loop.of('budget.warned')).toMatchObject([{ account: 'run', unit: 'usd', spent: 4, limit: 5 }]);
    const held = loop.admit('a');
    await turn();
    loop.answer('run+budget', 'yes');
    settled(await held);
    expect(loop.of('budget.warned')).toHaveLength(2);
  });

  it('that is hard asks nobody', async () => {
    const loop = new TinyLoop({ budget: { usd: 2, enforce: 'hard' }, tasks: { a: TASK } });
    settled(await loop.admit('a'));
    expect(await loop.admit('a')).toMatchObject({ isAdmitted: false });
    expect(loop.of('question.asked')).toEqual([]);
    expect(loop.of('attempt.held')).toEqual([]);
    expect(loop.state.because).toBe('budget');
    expect(loop.state.short).toEqual({ account: 'run', unit: 'usd', spent: 2, limit: 2 });
  });

  it('in dollars refuses a model whose price nobody knows, unless that is allowed', async () => {
    const strange = { model: 'x', usd: null };
    const loop = new TinyLoop({ budget: { usd: 2 }, tasks: { a: TASK } });
    expect(await loop.admit('a', strange)).toEqual({
      isAdmitted: false,
      message:
        'the price is unknown for x, and the run has a budget in dollars: add it to "prices" of the configuration, or say "unknown-price: allow" in the budget',
    });
    const lenient = new TinyLoop({ budget: { usd: 2, 'unknown-price': 'allow' }, tasks: { a: TASK } });
    settled(await lenient.admit('a', strange), { ...USE, usd: null });
    expect(lenient.state.spending.get('run')).toMatchObject({ usd: 0, unpriced: 1, requests: 1 });
  });

  it('knows what was spent before this engine', async () => {
    const loop = new TinyLoop({ budget: { usd: 2 }, tasks: { a: TASK } });
    loop.submit({ type: 'model.used', task: 'a', attempt: 1, ...USE });
    expect(await isOpen(loop.admit('a'))).toBe(true);
    expect(loop.of('question.asked')).toHaveLength(1);
  });
});

describe('a loop of tool calls', () => {
  it('is asked about, and goes on for as long again after a yes', async () => {
    const loop = new TinyLoop({ tasks: { a: TASK } });
    const again = (times: number): Promise<Admission> => loop.admit('a', { loop: { tool: 'ls', times } });
    settled(await again(9));
    const held = again(10);
    expect(await isOpen(held)).toBe(true);
    expect(loop.of('question.asked')).toMatchObject([{ id: 'a+loop', default: 'no' }]);
    loop.answer('a+loop', 'yes');
    settled(await held);
    settled(await again(19));
    const once = again(20);
    await turn();
    loop.answer('a+loop', 'no');
    expect(await once).toEqual({
      isAdmitted: false,
      kind: 'refused',
      message: 'it went round in circles: ls with the same input 20 times',
    });
  });
});
