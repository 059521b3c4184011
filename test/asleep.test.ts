/** Time that the engine or the machine slept is nobody's: no time-out, no budget and no duration counts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Fact, Recorded } from '../src/contract/event.ts';
import { renderStatus } from '../src/doors/cli/commands/status.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { buildReport } from '../src/report/build.ts';
import { workedMs } from '../src/schedule/money/budget.ts';
import { ClockJumps } from '../src/run/clock-jumps.ts';
import { runView, taskView } from '../src/schedule/views/view.ts';
import { BOSUN, start, startProgram } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';
import { testProgram } from './fixtures/test-program.ts';

test(
  'a wait goes on after its process was stopped, for what was left of it',
  { timeout: 30_000 },
  async () => {
    const program = testProgram('sleeper');
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output, { timeout: 15_000 }).toBe('waits\n');
    child.kill('SIGSTOP');
    await sleep(2600);
    child.kill('SIGCONT');
    await once(child, 'close');
    const told = JSON.parse(output.split('\n')[1]!) as { awakeMs: number; wallMs: number };
    expect(told.wallMs).toBeGreaterThan(3000);
    expect(told.awakeMs).toBeGreaterThan(990);
    expect(told.awakeMs).toBeLessThan(2500);
  },
);

test('an engine that was stopped with its agent neither times it out nor counts the minutes', async () => {
  await using repository = await makeRepository();
  await repository.write({
    'bosun.yaml': `name: stopped
budget: { minutes: 0.08 }
tasks:
  work: { run: echo up; sleep 1.5, timeout: 3s }
`,
  });
  const { child, finished } = startProgram([BOSUN, 'run', '--json'], repository.path);
  let output = '';
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 15_000 }).toContain('"text":"up');
  child.kill('SIGSTOP');
  await sleep(6000);
  child.kill('SIGCONT');
  const { code, stdout } = await finished;
  expect(code).toBe(0);
  const events = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => (JSON.parse(line) as { event: { type: string; ms?: number; durationMs?: number } }).event);
  expect(events.filter(({ type }) => type === 'budget.warned' || type === 'attempt.asked')).toEqual([]);
  expect(events.find(({ type }) => type === 'clock.jumped')?.ms).toBeGreaterThan(4000);
  expect(events.find(({ type }) => type === 'attempt.finished')?.durationMs).toBeLessThan(5500);
}, 40_000);

test('a cancel of a run whose engine is stopped says so, and is taken up once it goes on', async () => {
  await using repository = await makeRepository();
  await repository.write({ 'bosun.yaml': 'name: deaf\ntasks:\n  work: { run: echo up; sleep 60 }\n' });
  const { child, finished, prints } = start(repository.path, 'run', '--json');
  await prints('"text":"up');
  child.kill('SIGSTOP');
  const cancelled = start(repository.path, 'cancel');
  const late = setTimeout(() => cancelled.child.kill(), 15_000);
  const { code, stderr } = await cancelled.finished;
  clearTimeout(late);
  child.kill('SIGCONT');
  expect(stderr).toMatch(
    /run deaf-1 is not cancelled yet: its bosun process \(\d+\) does not react.*kill -9/s,
  );
  expect(code).toBe(2);
  expect((await finished).code).toBe(3);
}, 40_000);

test('a clock that was set is seen in both directions, and told once', () => {
  const jumps = new ClockJumps(1_000_000);
  expect(jumps.pendingMs(1_001_000)).toBe(0);
  expect(Math.round(jumps.take(1_000_000 + 3_600_000) / 1000)).toBe(3600);
  expect(jumps.pendingMs(1_000_000 + 3_600_000)).toBe(0);
  expect(Math.round(jumps.take(1_000_000) / 1000)).toBe(-3600);
});

test('minutes that nobody worked are on no budget', () => {
  const loop = new TinyLoop({ budget: { minutes: 10 }, tasks: { work: { run: 'true' } } });
  loop.nowMs += 60_000;
  loop.nowMs += 3_600_000;
  loop.submit({ type: 'clock.jumped', ms: 3_600_000 });
  loop.ledger.lookAtClock();
  expect(loop.state.questions.size).toBe(0);
  loop.nowMs += 10 * 60_000;
  loop.ledger.lookAtClock();
  expect(loop.state.questions.size).toBe(1);
});

test('what lies between two engines of a run is nobody’s time, in every view alike', () => {
  const loop = new TinyLoop({ budget: { minutes: 10 }, tasks: { a: { run: 'true' } } });
  const { workflow } = loop.state;
  const journal: Recorded[] = [];
  const keep = (event: Recorded['event']): void =>
    void journal.push({ run: 'w-1', seq: journal.length, atMs: loop.nowMs, event });
  keep({ type: 'run.created', id: 'w-1', workflow, source: 's', inputs: {}, base: 'c0', dirty: false });
  loop.events.forEach(keep);
  const at = (nowMs: number, ...facts: Fact[]): void => {
    loop.nowMs = nowMs;
    const known = loop.events.length;
    loop.submit(...facts);
    loop.events.slice(known).forEach(keep);
  };
  const isolation: Fact = { type: 'run.isolation', kind: 'none', notes: [] };
  const ended = (attempt: number, kind: 'lost' | 'done', durationMs: number): Fact => ({
    type: 'attempt.finished',
    task: 'a',
    attempt,
    outcome: { kind },
    durationMs,
  });
  at(0, isolation);
  at(3000, { type: 'attempt.output', task: 'a', attempt: 1, stream: 'stdout', text: 'x\n' });
  at(600_000, isolation, ended(1, 'lost', 3000));
  at(602_000, ended(2, 'done', 2000));
  expect(loop.state.state).toBe('done');
  expect(workedMs(loop.state.clocks.get('run')!, loop.nowMs)).toBe(5000);
  expect(runView(loop.state)).toMatchObject({ endedAtMs: 602_000, idleMs: 597_000 });
  expect(taskView(loop.node('a'))).toMatchObject({ workedMs: 5000 });
  const live = new LiveModel();
  live.see(journal);
  expect(live.row('a', 700_000)?.elapsedMs).toBe(5000);
  expect(live.run?.sinceMs).toBe(597_000);
  const { run, tasks } = buildReport(journal, { diffs: new Map(), shownState: 'done' });
  expect(run).toMatchObject({ durationMs: 5000, idleMs: 597_000 });
  expect(tasks[0]!.attempts.map(({ durationMs }) => durationMs)).toEqual([3000, 2000]);
});

test('an attempt that is at work while the machine sleeps has not worked meanwhile', () => {
  const loop = new TinyLoop({ tasks: { a: { run: 'true' } } });
  loop.submit({ type: 'run.isolation', kind: 'none', notes: [] });
  expect(taskView(loop.node('a')).attemptAtMs).toBe(0);
  loop.nowMs = 3_660_000;
  loop.submit({ type: 'clock.jumped', ms: 3_600_000 });
  expect(taskView(loop.node('a')).attemptAtMs).toBe(3_600_000);
  // its engine is killed a minute later, and the next one takes over after an hour
  loop.nowMs = 3_720_000;
  loop.submit({ type: 'attempt.output', task: 'a', attempt: 1, stream: 'stdout', text: 'x\n' });
  loop.nowMs += 3_600_000;
  loop.submit({ type: 'run.isolation', kind: 'none', notes: [] });
  expect(loop.state.lastAtMs - loop.node('a').attemptAtMs!).toBe(120_000);
});

test('status tells what finished tasks of an interrupted run took', () => {
  const loop = new TinyLoop({ tasks: { each: { run: 'true', 'for-each': [1] }, b: { run: 'true' } } });
  loop.submit({ type: 'run.isolation', kind: 'none', notes: [] });
  loop.nowMs = 65_000;
  const done = { type: 'attempt.finished', outcome: { kind: 'done' }, durationMs: 65_000 } as const;
  loop.submit({ ...done, task: 'each.1', attempt: 1 });
  const tasks = [...loop.state.nodes.values()].map((node) => taskView(node));
  const run = { ...runView(loop.state), state: 'interrupted' as const };
  const shown = renderStatus({ run, tasks, taskCount: tasks.length }, 9_000_000);
  expect(shown).toMatch(/each +.*1m05s/);
  expect(shown).not.toMatch(/b .*m\d\ds/);
});
