import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../src/contract/event.ts';
import type { Admission } from '../src/contract/model.ts';
import { AgentSlot } from '../src/run/agent-slot.ts';
import { PauseGate } from '../src/run/pause-gate.ts';
import { RunTimers } from '../src/run/run-timers.ts';
import { workedMs } from '../src/schedule/money/budget.ts';
import { runView, taskView } from '../src/schedule/views/view.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

const AGENT = { runtime: 'codex' as const };
const TASKS = {
  a: { agent: AGENT, prompt: 'Work.' },
  b: { agent: AGENT, prompt: 'Work.' },
  c: { run: 'true' },
};

function loopOf(more: object = {}): TinyLoop {
  return new TinyLoop({ concurrency: 2, tasks: TASKS, ...more });
}

/** All that an agent tells before it can be gone on with. */
function talking(loop: TinyLoop, task: string, attempt = 1): void {
  const at = { task, attempt };
  const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  loop.submit({ type: 'attempt.workspace', ...at, workspace: `${task}.${attempt}`, base: 'c0' });
  loop.submit({ type: 'attempt.agent', ...at, event: { kind: 'started', session: `s-${task}` } });
  loop.submit({ type: 'model.used', ...at, provider: 'p', model: 'm', tokens, usd: 0 });
}

const collected = { commit: 'c1', changed: [], changedCount: 1, refused: [], artifacts: [] };

describe('a pause', () => {
  it('stops agents that can continue, and another attempt goes on in their conversation and workspace', () => {
    const loop = loopOf();
    talking(loop, 'a');
    loop.submit({ type: 'run.paused', by: 'eve' });
    expect(loop.of('attempt.pausing').map(({ task, how }) => [task, how])).toEqual([
      ['a', 'stop'],
      ['b', 'hold'],
    ]);
    const ended = { durationMs: 5, outcome: { kind: 'cancelled' as const }, collected };
    loop.submit({ type: 'attempt.finished', task: 'a', attempt: 1, ...ended });
    expect(loop.of('task.again')).toMatchObject([
      { task: 'a', why: 'paused', continues: 1, session: { id: 's-a', fork: false }, place: 'first' },
    ]);
    expect(loop.of('attempt.started').map(({ task }) => task)).toEqual(['a', 'b']);
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    expect(loop.of('attempt.started').at(-1)).toMatchObject({
      task: 'a',
      attempt: 2,
      continues: 1,
      session: { id: 's-a', fork: false },
    });
    expect(loop.node('a')).toMatchObject({ failures: 0, rounds: 1 });
  });

  it('stops an agent that was held as soon as its first answer is there', () => {
    const loop = loopOf();
    loop.submit({ type: 'task.paused', task: 'a', by: 'eve' });
    talking(loop, 'a');
    expect(loop.of('attempt.pausing').map(({ how, because }) => `${how}: ${because}`)).toEqual([
      'hold: it has not begun a conversation',
      'hold: no model has answered it yet',
      'stop: it continues its conversation after the pause',
    ]);
  });

  it('never stops an agent that forgets, that has finished, or that is a command', () => {
    const loop = loopOf({ concurrency: 3 });
    const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const at = { task: 'a', attempt: 1 };
    loop.submit({ type: 'attempt.workspace', ...at, workspace: 'a.1', base: 'c0' });
    loop.submit({ type: 'attempt.agent', ...at, event: { kind: 'started', session: 's', forgets: true } });
    loop.submit({ type: 'model.used', ...at, provider: 'p', model: 'm', tokens, usd: 0 });
    talking(loop, 'b');
    loop.submit({
      type: 'attempt.agent',
      task: 'b',
      attempt: 1,
      event: { kind: 'finished', turns: 1, toolCalls: 0 },
    });
    loop.submit({ type: 'run.paused', by: 'eve' });
    expect(loop.of('attempt.pausing').map(({ task, how, because }) => [task, how, because])).toEqual([
      ['a', 'hold', 'its agent cannot continue an earlier conversation'],
      ['b', 'finish', 'its agent has finished'],
      ['c', 'finish', 'a command cannot continue where it was stopped'],
    ]);
  });

  it('of one that waits for a slot leaves it what it was to go on with', () => {
    const loop = loopOf({ concurrency: 3 });
    talking(loop, 'a');
    const failed = { kind: 'failed' as const, reason: 'check' as const, message: 'no' };
    loop.state.workflow.tasks['a']!.attempts = 3;
    const ended = { durationMs: 1, outcome: failed, feedback: 'Fix it.', collected };
    loop.submit({ type: 'attempt.finished', task: 'a', attempt: 1, ...ended });
    expect(loop.of('attempt.started').at(-1)).toMatchObject({ task: 'a', attempt: 2, continues: 1 });
    loop.submit({ type: 'attempt.held', task: 'a', attempt: 2, by: 'slot', text: 'waiting for a slot' });
    loop.submit({ type: 'task.paused', task: 'a', by: 'eve' });
    const called = { durationMs: 0, outcome: { kind: 'cancelled' as const } };
    loop.submit({ type: 'attempt.finished', task: 'a', attempt: 2, ...called });
    loop.submit({ type: 'task.unpaused', task: 'a', by: 'eve' });
    expect(loop.of('attempt.started').at(-1)).toMatchObject({
      task: 'a',
      attempt: 3,
      continues: 1,
      feedback: 'Fix it.',
      session: { id: 's-a', fork: false },
    });
  });

  it('of a run is idle from the moment at which nothing of it is at work, and that is nobody’s time', () => {
    const loop = loopOf({ concurrency: 3, tasks: { c: { run: 'true' }, d: { run: 'true' } } });
    loop.nowMs = 1000;
    loop.submit({ type: 'run.paused', by: 'eve' });
    expect(runView(loop.state).paused).toEqual({ by: 'eve', sinceMs: 1000 });
    for (const [task, atMs] of [
      ['c', 2000],
      ['d', 5000],
    ] as const) {
      loop.nowMs = atMs;
      loop.submit({ type: 'attempt.finished', task, attempt: 1, durationMs: 1, outcome: FAILED });
    }
    expect(loop.state.state).toBe('failed'); // nothing was left to do
    const other = loopOf();
    other.nowMs = 1000;
    other.submit({ type: 'run.paused', by: 'eve' });
    for (const task of ['a', 'b'])
      other.submit({ type: 'attempt.held', task, attempt: 1, by: 'pause', text: 'paused by eve' });
    expect(runView(other.state).paused).toMatchObject({ idleSinceMs: 1000 });
    other.nowMs = 61_000;
    other.submit({ type: 'run.unpaused', by: 'eve' });
    expect(runView(other.state)).toMatchObject({ idleMs: 60_000 });
    expect(runView(other.state)).not.toHaveProperty('paused');
  });

  it('uses up no minutes of a budget, and no time of an attempt that is held', () => {
    const loop = loopOf({ budget: { minutes: 10 } });
    const held: Fact = { type: 'attempt.held', task: 'a', attempt: 1, by: 'pause', text: 'paused by eve' };
    loop.submit({ ...held, task: 'b' });
    loop.nowMs = 60_000;
    loop.submit({ type: 'run.paused', by: 'eve' });
    loop.submit(held);
    loop.nowMs = 600_000;
    loop.submit({ ...held, text: 'waiting for a slot' });
    const clock = loop.state.clocks.get('run')!;
    expect(workedMs(clock, loop.nowMs)).toBe(60_000);
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    loop.submit({ type: 'attempt.released', task: 'a', attempt: 1 });
    loop.nowMs = 610_000;
    expect(workedMs(clock, loop.nowMs)).toBe(70_000);
    expect(loop.nowMs - taskView(loop.node('a')).attemptAtMs!).toBe(70_000);
  });

  it('of a task holds all within it, and other tasks go before it', () => {
    const loop = new TinyLoop({
      concurrency: 1,
      tasks: {
        first: { run: 'true' },
        each: { 'for-each': ['x', 'y'], run: 'true' },
        last: { needs: ['first'], run: 'true' },
      },
    });
    const started = (): string[] => loop.of('attempt.started').map(({ task }) => task);
    const end = (task: string): void =>
      loop.submit({ type: 'attempt.finished', task, attempt: 1, durationMs: 1, outcome: { kind: 'done' } });
    loop.submit({ type: 'task.paused', task: 'each', by: 'eve' });
    expect(loop.of('attempt.pausing')).toEqual([]);
    expect(taskView(loop.node('each.2')).paused).toMatchObject({ by: 'eve' });
    end('first');
    end('last');
    expect(started()).toEqual(['first', 'last']);
    loop.submit({ type: 'task.unpaused', task: 'each', by: 'eve' });
    expect(taskView(loop.node('each.2'))).not.toHaveProperty('paused');
    end('each.1');
    expect(started()).toEqual(['first', 'last', 'each.1', 'each.2']);
  });

  it('begins no round of a continuous task, and the round that is due comes after it', () => {
    const loop = new TinyLoop({
      tasks: { watch: { run: 'true', continuous: { every: '1m' } }, work: { run: 'true' } },
    });
    const done = { durationMs: 1, outcome: { kind: 'done' as const } };
    loop.submit({ type: 'attempt.finished', task: 'watch.1', attempt: 1, ...done });
    loop.submit({ type: 'task.paused', task: 'watch', by: 'eve' });
    loop.submit({ type: 'timer.fired', task: 'watch', attempt: 1 });
    expect(loop.of('task.round')).toHaveLength(1);
    loop.submit({ type: 'task.unpaused', task: 'watch', by: 'eve' });
    expect(loop.of('task.round').map(({ why }) => why)).toEqual(['first', 'every']);
  });
});

const FAILED = { kind: 'failed' as const, reason: 'exit' as const, message: 'no' };

describe('the gate for requests', () => {
  const asking = (loop: TinyLoop, slot?: AgentSlot) => ({
    node: loop.node('a'),
    attempt: 1,
    slot,
    signal: new AbortController().signal,
  });

  it('holds them while their task is paused, tells so, and lets them go then', async () => {
    const loop = loopOf();
    const gate = new PauseGate(loop);
    loop.submit({ type: 'task.paused', task: 'a', by: 'eve' });
    let answered: Admission | undefined;
    const admitted = gate.admit(asking(loop), () => loop.admit('a')).then((it) => (answered = it));
    await sleep(5);
    expect(answered).toBeUndefined();
    expect(loop.node('a').held).toMatchObject({ by: 'pause', text: 'paused by eve' });
    loop.submit({ type: 'task.unpaused', task: 'a', by: 'eve' });
    gate.changed();
    await admitted;
    expect(answered).toMatchObject({ isAdmitted: true });
    expect(loop.node('a').held).toBeUndefined();
  });

  it('gives back what was reserved for one that may not go after all', async () => {
    const loop = loopOf();
    const gate = new PauseGate(loop);
    const settled: unknown[] = [];
    let asked = 0;
    const admit = async (): Promise<Admission> => {
      if (asked++ === 0) loop.submit({ type: 'run.paused', by: 'eve' });
      return { isAdmitted: true, settle: (use) => settled.push(use), pause: () => () => true };
    };
    const admitted = gate.admit(asking(loop), admit);
    await sleep(5);
    expect(settled).toEqual([undefined]);
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    gate.changed();
    const admission = await admitted;
    if (!admission.isAdmitted) throw new Error('refused');
    // one that waits for its provider is not sent into a pause
    const reserve = admission.pause!();
    expect(reserve()).toBe(true);
    loop.submit({ type: 'run.paused', by: 'eve' });
    expect(reserve()).toBe(false);
  });

  it('gives the slot of the agent to others meanwhile, and takes one again first', async () => {
    const loop = loopOf();
    const gate = new PauseGate(loop);
    let isTaken = false;
    const { promise: freed, resolve: free } = Promise.withResolvers<void>();
    const slot = new AgentSlot(async ({ onWait }) => {
      if (isTaken) {
        onWait('waiting for a slot: 1 agent');
        await freed;
      }
      isTaken = true;
      return { [Symbol.dispose]: () => void (isTaken = false) };
    });
    await slot.have(() => {}, new AbortController().signal);
    loop.submit({ type: 'run.paused', by: 'eve' });
    let isAdmitted = false;
    const admitted = gate.admit(asking(loop, slot), () => loop.admit('a')).then(() => (isAdmitted = true));
    await sleep(5);
    expect(isTaken).toBe(false);
    isTaken = true; // by another agent
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    gate.changed();
    await sleep(10);
    expect(isAdmitted).toBe(false);
    expect(loop.node('a').held).toMatchObject({ by: 'pause', text: 'waiting for a slot: 1 agent' });
    free();
    await admitted;
    expect(isTaken).toBe(true);
  });

  it('has a slot for the next request where one gave up during the pause', async () => {
    const loop = loopOf();
    const gate = new PauseGate(loop);
    let isTaken = false;
    const slot = new AgentSlot(async () => {
      isTaken = true;
      return { [Symbol.dispose]: () => void (isTaken = false) };
    });
    await slot.have(() => {}, new AbortController().signal);
    loop.submit({ type: 'run.paused', by: 'eve' });
    const gone = new AbortController();
    const given = gate.admit({ ...asking(loop, slot), signal: gone.signal }, () => loop.admit('a'));
    await sleep(1);
    gone.abort();
    expect(await given).toMatchObject({ isAdmitted: false });
    expect(isTaken).toBe(false);
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    gate.changed();
    expect(await gate.admit(asking(loop, slot), () => loop.admit('a'))).toMatchObject({ isAdmitted: true });
    expect(isTaken).toBe(true);
  });

  it('lets nobody wait who is gone', async () => {
    const loop = loopOf();
    const gate = new PauseGate(loop);
    loop.submit({ type: 'run.paused', by: 'eve' });
    const gone = new AbortController();
    const slot = new AgentSlot(() => new Promise(() => {}));
    const admitted = gate.admit({ ...asking(loop, slot), signal: gone.signal }, () => loop.admit('a'));
    loop.submit({ type: 'run.unpaused', by: 'eve' });
    gate.changed();
    await sleep(1);
    gone.abort();
    expect(await admitted).toMatchObject({ isAdmitted: false });
  });
});

describe('timers of a run', () => {
  it('stand still while their task is paused', async () => {
    const loop = loopOf();
    const fired: Fact[] = [];
    const timers = new RunTimers({ state: loop.state, submit: (...facts) => void fired.push(...facts) });
    timers.wait('a', 'a', 60, { type: 'timer.fired', task: 'a', attempt: 1 });
    timers.wait('b', 'b', 60, { type: 'timer.fired', task: 'b', attempt: 1 });
    loop.submit({ type: 'task.paused', task: 'a', by: 'eve' });
    timers.changed();
    timers.wait('a2', 'a', 1, { type: 'timer.fired', task: 'a', attempt: 2 });
    await sleep(120);
    expect(fired.map((fact) => 'task' in fact && fact.task)).toEqual(['b']);
    loop.submit({ type: 'task.unpaused', task: 'a', by: 'eve' });
    timers.changed();
    await sleep(120);
    expect(fired.map((fact) => 'attempt' in fact && fact.attempt)).toEqual([1, 2, 1]);
  });
});
