/** What is held looks held: in the lines of a run, in `status` and in the live view. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import { shownCounts } from '../src/contract/run.ts';
import type { ModelUse } from '../src/contract/model.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { renderFrame } from '../src/doors/cli/live/frame.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { painter } from '../src/doors/cli/output.ts';
import { signOf } from '../src/doors/cli/live/task-sign.ts';
import { noticeWaits, Waiting } from '../src/gateway/waiting.ts';
import { heldOf, runView, taskView } from '../src/schedule/views/view.ts';
import { TinyLoop, tokensOf } from './fixtures/tiny-loop.ts';

const TASK = { agent: { runtime: 'codex', model: 'm' }, prompt: 'Work.' } as const;
const USE: ModelUse = { provider: 'p', model: 'm', tokens: tokensOf(1000, 1000), usd: 2 };

describe('a budget that is spent', () => {
  it('holds every task that asks for more, each told once, until there is more', async () => {
    const loop = new TinyLoop({ budget: { usd: 1 }, tasks: { a: TASK, b: TASK } });
    const first = await loop.admit('a');
    if (first.isAdmitted) first.settle(USE);
    const waiting = [loop.admit('a'), loop.admit('b'), loop.admit('b')];
    await sleep(1);
    const shown = (id: string): string => {
      const node = loop.state.nodes.get(id)!;
      const { glyph, word, line } = signOf(
        taskView(node, undefined, heldOf(loop.state, node)),
        { waits: [] },
        0,
      );
      return `${glyph} ${word}  ${line}`;
    };
    const held = '⏸ budget  held: the run has used $2.00 of $1.00';
    expect([shown('a'), shown('b')]).toEqual([held, held]);
    expect(loop.of('attempt.held').map(({ task }) => task)).toEqual(['a', 'b']);
    expect(shownCounts(runView(loop.state)), 'both wait for the one answer').toEqual({ asking: 2 });
    const asked = (): string[] => runView(loop.state).questions.map(({ text }) => text);
    expect(asked()).toEqual([expect.stringMatching(/^The run has used \$2\.00 of \$1\.00\. Raise it to \$/)]);
    loop.submit({ type: 'budget.set', account: 'run', limits: { usd: 0.5 }, by: 'person' });
    expect(asked()).toEqual([expect.stringMatching(/^The run has used \$2\.00 of \$0\.50\. Raise it to \$/)]);
    loop.submit({ type: 'budget.set', account: 'run', limits: { usd: 100 }, by: 'person' });
    loop.ledger.changed();
    await Promise.all(waiting);
    expect(loop.of('attempt.released').map(({ task }) => task)).toEqual(['a', 'b']);
    expect(shown('a')).toBe('● running  undefined');
  });
});

it('a task that is paused while it works or asks looks paused', () => {
  const paused = { by: 'anna', sinceMs: 1000 };
  const shown = (task: Parameters<typeof signOf>[0], run?: typeof paused): string => {
    const { glyph, word, line } = signOf(task, { waits: [], ...(run && { paused: run }) }, 4000);
    return `${glyph} ${word}  ${line}`;
  };
  const question = { by: 'question', text: 'Which?', sinceMs: 0 } as const;
  const still = '⏸ pausing  by anna, 3.0s ago; still at work';
  expect(shown({ state: 'running', paused })).toBe(still);
  expect(shown({ state: 'running' }, paused)).toBe(still);
  expect(shown({ state: 'running', held: question, paused })).toBe(
    '⏸ asking  paused by anna, 3.0s ago; Which?',
  );
  expect(shown({ state: 'asking', paused })).toBe('⏸ asking  paused by anna, 3.0s ago');
  expect(shown({ state: 'merging' }, paused)).toBe('⏸ merging  paused by anna, 3.0s ago');
  expect(shown({ state: 'done' }, paused)).toBe('✓ done  undefined');
});

it('tasks that wait for an answer are counted as asking, however many are listed', async () => {
  const loop = new TinyLoop({ tasks: { a: TASK, b: TASK, c: TASK } });
  for (const [n, task] of ['a', 'b', 'b'].entries())
    void loop.desk.ask(task, 1, { id: `${task}+${n}`, text: 'Which?', default: 'no' });
  await sleep(1);
  const view = runView(loop.state);
  expect(view).toMatchObject({ counts: { running: 3 }, askingCount: 2 });
  expect(shownCounts(view)).toEqual({ running: 1, asking: 2 });
});

describe('a provider', () => {
  it('that sends nothing is told of, once for several requests, until it speaks', async () => {
    const told: string[] = [];
    const notice = noticeWaits((event) => told.push(event.type));
    {
      using one = new Waiting((waited) => notice('p', waited), { silentMs: 5, turnMs: 5 });
      using two = new Waiting((waited) => notice('p', waited), { silentMs: 5, turnMs: 5 });
      await sleep(60);
      expect(told).toEqual(['attempt.held']);
      one.heard();
      expect(two).toBeInstanceOf(Waiting);
      expect(told).toEqual(['attempt.held']);
    }
    expect(told).toEqual(['attempt.held', 'attempt.released']);
    using quick = new Waiting(() => told.push('wrong'));
    quick.listen();
    expect(told).toHaveLength(2);
  });

  it('to which nothing was sent is not called silent', async () => {
    const told: (string | undefined)[] = [];
    using waiting = new Waiting((waited) => told.push(waited), { silentMs: 5, turnMs: 20 });
    waiting.pause();
    await sleep(10);
    expect(told).toEqual([]);
    await sleep(50);
    expect(told).toEqual(['turn']);
    const held = { by: 'turn', provider: 'p', text: 'waits for its turn', sinceMs: 0 } as const;
    const wait = { provider: 'p', untilMs: 4000, why: 'p rate limit' };
    expect(signOf({ state: 'running', held }, { waits: [wait] }, 0)).toMatchObject({ word: 'limited' });
    expect(signOf({ state: 'running', held }, { waits: [] }, 0)).toMatchObject({
      word: 'queued',
      line: 'held: waits for its turn',
    });
    waiting.heard();
    waiting.listen();
    await sleep(50);
    expect(told).toEqual(['turn', undefined, 'provider']);
  });

  it('with a rate limit is called that, and not silent', () => {
    const held = { by: 'provider', provider: 'p', text: 'p has sent nothing for 10s', sinceMs: 0 } as const;
    const task = { state: 'running', held } as const;
    const wait = { provider: 'p', untilMs: 5000, why: 'the rate limit of p' };
    expect(signOf(task, { waits: [wait] }, 1000)).toMatchObject({
      word: 'limited',
      line: 'held: the rate limit of p, next request in 4.0s',
    });
    expect(signOf(task, { waits: [wait] }, 6000)).toMatchObject({
      word: 'silent',
      line: 'held: p has sent nothing for 10s',
    });
  });
});

it('what the program of an agent logs is dimmed, what a command prints is not', () => {
  const loop = new TinyLoop({ tasks: { agent: TASK, command: { run: 'true' } } });
  const { workflow } = loop.state;
  const lines = new EventLines({ paint: (color, text) => `<${color}>${text}`, withOutput: true });
  const render = (event: Event): string => lines.render({ run: 'w-1', seq: 1, atMs: 0, event });
  render({ type: 'run.created', id: 'w-1', workflow, source: 'test', inputs: {}, base: 'c0', dirty: false });
  const logged = { type: 'attempt.output', attempt: 1, stream: 'stderr', text: 'debug\n' } as const;
  expect(render({ ...logged, task: 'agent' })).toContain('<quiet>│ debug');
  expect(render({ ...logged, task: 'command' })).not.toContain('<quiet>│');
});

it('lines and the live view say what waits, what is tried again, and how far a group is', () => {
  const loop = new TinyLoop({
    tasks: {
      flaky: { run: 'false', retry: { attempts: 3, backoff: '2s' } },
      plan: { ...TASK, expand: true },
      each: { 'for-each': [1, 2], run: 'true' },
    },
  });
  const failed: Event = {
    type: 'attempt.finished',
    task: 'flaky',
    attempt: 1,
    outcome: { kind: 'failed', reason: 'exit', message: 'it ended with exit code 3' },
    durationMs: 1,
  };
  const expansion = {
    helper: { run: 'true', needs: [], attempts: 1 },
    exports: { run: 'true', needs: [], attempts: 1 },
  };
  loop.submit(failed, {
    type: 'attempt.finished',
    task: 'plan',
    attempt: 1,
    outcome: { kind: 'done' },
    durationMs: 1,
    expansion,
  });
  const created: Event = {
    type: 'run.created',
    id: 'w-1',
    workflow: loop.state.workflow,
    source: 'test',
    inputs: {},
    base: 'c0',
    dirty: false,
  };
  const events = [created, ...loop.events].map((event, n): Recorded => ({
    run: 'w-1',
    seq: n,
    atMs: 0,
    event,
  }));
  const lines = new EventLines({ paint: painter(false), withOutput: false });
  const text = events.map((event) => lines.render(event)).join('');
  expect(text).toContain('retries in 2.0s (attempt 2 of 3)');
  expect(text).toContain('added 2 tasks: helper, exports');
  expect(text).toContain('runs for each of 2 items');

  const model = new LiveModel();
  model.see(events);
  const frame = renderFrame(model, {
    columns: 110,
    rows: 30,
    nowMs: 500,
    paint: painter(false),
    hasKeys: false,
    notice: '',
  });
  expect(frame.find((line) => line.includes('flaky'))).toMatch(
    /◷ delayed +flaky .*retries in 1\.5s \(attempt 2 of 3\): it ended with exit code 3/,
  );
  expect(frame.find((line) => / plan /.test(line))).toMatch(/● running +plan .*0 of 2 done/);
  expect(frame.join('\n')).not.toContain('expanded');
});
