import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import type { RunReport } from '../src/contract/report.ts';
import type { ShownRunState } from '../src/contract/run.ts';
import { WorkflowFile } from '../src/contract/workflow.ts';
import { buildReport } from '../src/report/build.ts';
import { renderHtml } from '../src/report/html/html.ts';
import { renderJson } from '../src/report/json.ts';
import { nextCommands } from '../src/report/next.ts';
import type { Patch } from '../src/report/patch/patch-reader.ts';
import { renderTextReport } from '../src/report/text/text.ts';
import { capture } from '../src/system/process/process.ts';
import {
  History,
  hostile,
  manyTasks,
  SCRIPT,
  patchOf,
  smallFailure,
  tenTasks,
  type Fixture,
} from './fixtures/report.ts';
import { commit } from './fixtures/collected.ts';

const CHROMIUM = '/usr/bin/chromium';

function reportOf(fixture: Fixture, shownState: ShownRunState, notes: string[] = []): RunReport {
  const event: Event = { type: 'run.isolation', kind: 'fences', notes };
  const [first, ...rest] = fixture.events;
  const events = [first!, { ...first!, event }, ...rest];
  return buildReport(events, { diffs: patchesOf(fixture.diffs), shownState });
}

function patchesOf(diffs: Fixture['diffs']): Map<string, Patch> {
  return new Map([...diffs].map(([task, text]) => [task, patchOf([Buffer.from(text)])]));
}

function taskOf(report: RunReport, id: string): RunReport['tasks'][number] {
  return report.tasks.find((task) => task.id === id)!;
}

/** Fails with the text that is missing, not with the megabytes it is missing from. */
function expectText(page: string, text: string): void {
  expect(page.includes(text), text).toBe(true);
}

const plain = { color: false, width: 100 };

describe('the report', () => {
  it('counts tasks, attempts, files and lines of what is on the branch', () => {
    const { totals } = reportOf(tenTasks(), 'running');
    expect(totals).toEqual({
      tasks: 10,
      byState: { done: 8, failed: 1, asking: 1 },
      attempts: 11,
      changedFiles: 7,
      linesAdded: 31,
      linesRemoved: 1,
      cost: {
        usd: null,
        usdKnown: 0,
        tokens: null,
        tokensByKind: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        requests: 0,
        unpriced: 0,
        ownLogin: 0,
        replayed: 0,
        estimated: 0,
      },
    });
  });

  it('counts no lines where a patch is missing, rather than too few', () => {
    const fixture = smallFailure();
    const report = reportOf({ events: fixture.events, diffs: new Map() }, 'failed');
    expect(report.totals).toMatchObject({ changedFiles: 2, linesAdded: null, linesRemoved: null });
    expect(renderTextReport(report, plain)).toContain('2 attempts · 2 files changed\n');
    expect(renderTextReport(reportOf(tenTasks(), 'running'), plain)).toContain(
      '\n  review[speed]  {"verdict":"accept"}\n',
    );
    expectText(renderHtml(report), 'lines not counted');
  });

  it('tells of each attempt how it ended, what it left behind and what the next one was told', () => {
    const { attempts, commit: onBranch } = taskOf(reportOf(tenTasks(), 'running'), 'implement');
    expect(attempts.map(({ n, purpose, outcome }) => [n, purpose, outcome])).toEqual([
      [1, 'work', 'failed'],
      [2, 'work', 'done'],
      [3, 'resolve', 'done'],
    ]);
    expect(attempts[0]).toMatchObject({
      exit: { reason: 'check', message: 'npm test ended with exit code 1', code: 1, signal: null },
      snapshot: commit('implement@1'),
      workspace: 'agent-implement-1',
      changedCount: 2,
      durationMs: 41_000,
      feedback: expect.stringContaining('not ok 3 - divide by zero'),
    });
    expect(onBranch).toBe(commit('implement'));
  });

  it('lists what a scope did not allow, and where it is kept', () => {
    const report = reportOf(tenTasks(), 'failed');
    expect(taskOf(report, 'benchmark').attempts[0]).toMatchObject({
      snapshot: commit('benchmark@1+outside'),
      changedCount: 1,
      outside: ['package.json: outside the scope', 'src/main.js: outside the scope'],
      outsideCount: 2,
    });
    expect(renderTextReport(report, plain)).toContain(
      'Left out, not allowed by the scope\n  benchmark  package.json: outside the scope\n',
    );
    expect(report.next.map(({ command }) => command)).toContain(
      `bosun diff ${report.run.id} --task benchmark --outside`,
    );
  });

  it('names conflicts with their files and whose they are, and how they were settled', () => {
    expect(reportOf(tenTasks(), 'running').conflicts).toEqual([
      {
        task: 'implement',
        attempt: 2,
        files: ['README.md'],
        with: ['document'],
        resolved: 'agent:developer',
      },
    ]);
  });

  it('lists the tasks of a for-each, a nested workflow and an expansion after the task they belong to', () => {
    const nested = WorkflowFile.parse({
      name: 'inner',
      tasks: { one: { run: 'a' }, two: { run: 'b', needs: ['one'] } },
    });
    const history = new History(
      'deep-1',
      {
        name: 'deep',
        tasks: { sub: { uses: 'inner.yaml' }, plan: { run: 'plan', expand: true }, last: { run: 'c' } },
      },
      { nested: { 'inner.yaml': nested } },
    );
    history.add({ type: 'task.expanded', task: 'sub', kind: 'uses' }).start('plan');
    const expansion = WorkflowFile.parse({
      name: 'x',
      tasks: { first: { run: 'f' }, part: { run: 'p', needs: ['first'], 'for-each': [1, 2] } },
    }).tasks;
    history.add(
      {
        type: 'attempt.finished',
        task: 'plan',
        attempt: 1,
        outcome: { kind: 'done' },
        durationMs: 1,
        expansion,
      },
      { type: 'task.expanded', task: 'plan', kind: 'expand' },
      { type: 'task.expanded', task: 'plan/part', kind: 'for-each', items: [1, 2] },
      { type: 'tasks.ready', tasks: ['plan/part.1', 'plan/part.2'] },
    );
    const report = reportOf({ events: history.events, diffs: new Map() }, 'running');
    const ids = 'sub sub/one sub/two plan plan/first plan/part plan/part.1 plan/part.2 last';
    expect(report.tasks.map(({ id }) => id).join(' ')).toBe(ids);
    expect(taskOf(report, 'sub/two')).toMatchObject({ parent: 'sub', needs: ['sub/one'], state: 'waiting' });
    expect(taskOf(report, 'plan/part.2')).toMatchObject({ parent: 'plan/part', needs: [], state: 'ready' });
    expectText(renderHtml(report), 'for-each · 2 tasks · expanded');
  });

  it('shows a retried task and those that were skipped for it as open again, and what is done as done', () => {
    const fixture = smallFailure();
    const history = { ...fixture, events: [...fixture.events] };
    const more: Event[] = [
      { type: 'task.retried', task: 'verify', by: 'me' },
      {
        type: 'run.reopened',
        tasks: [{ task: 'verify' }, { task: 'publish' }],
        because: 'it is tried again',
      },
      { type: 'tasks.ready', tasks: ['verify'] },
    ];
    more.forEach((event, n) => history.events.push({ run: 'tidy-1', seq: 99 + n, atMs: 0, event }));
    const report = reportOf(history, 'running');
    expect(report.tasks.map(({ id, state }) => [id, state])).toEqual([
      ['sweep', 'done'],
      ['verify', 'ready'],
      ['publish', 'waiting'],
    ]);
    expect(report.run).toMatchObject({ state: 'running', endedAtMs: null, durationMs: 5_500 });
  });

  it('says of a run that no engine drives that its tasks are interrupted, not running', () => {
    const history = new History('stop-1', { name: 'stop', tasks: { a: { run: 'x' } } })
      .start('a')
      .wait(2_000);
    const report = reportOf({ events: history.print('a', 'x').events, diffs: new Map() }, 'interrupted');
    expect(taskOf(report, 'a')).toMatchObject({ state: 'ready', message: 'interrupted while running' });
    expect(renderTextReport(report, plain)).toContain('! stop-1 interrupted after 2.0s');
    expectText(renderHtml(report), 'a, attempt 1: interrupted, 2.0s');
    expect(renderTextReport(report, plain) + renderHtml(report)).not.toMatch(/● running|running for/);
  });

  it('joins the pieces of a line, keeps what a carriage return left, and counts the lines it drops', () => {
    const history = new History('log-1', { name: 'log', tasks: { a: { run: 'x' } } }).start('a');
    history
      .print('a', 'first\n'.repeat(200))
      .print('a', 'one ')
      .print('a', 'err\n', 'stderr')
      .print('a', 'line\r\n');
    history.print('a', '10%\r50%\r100%\ntail without an end');
    history.add({
      type: 'attempt.output',
      task: 'a',
      attempt: 1,
      stream: 'check',
      base64: '/2FiYw==',
      droppedBytes: 7,
    });
    const { log } = taskOf(reportOf({ events: history.events, diffs: new Map() }, 'running'), 'a');
    expect(log.lines.slice(-5).map(({ text }) => text)).toEqual([
      'err',
      'one line',
      '100%',
      'tail without an end',
      '\ufffdabc',
    ]);
    expect(log).toMatchObject({ linesLeftOut: 145, droppedBytes: 7 });
    expect(log.lines).toHaveLength(60);
  });

  it('suggests what to type for each state of a run', () => {
    const commands = (fixture: Fixture, state: ShownRunState): string[] =>
      reportOf(fixture, state).next.map(({ command }) => command);
    expect(commands(tenTasks(), 'running')).toEqual(['bosun answer ship yes', 'bosun logs -f']);
    expect(commands(tenTasks(), 'interrupted')).toEqual([
      'bosun resume calculator-1',
      'bosun answer ship yes',
    ]);
    expect(commands(smallFailure(), 'failed')).toEqual([
      'bosun retry verify',
      'bosun diff tidy-1',
      'bosun merge tidy-1',
    ]);
    expect(commands(tenTasks(), 'cancelled')[0]).toBe('bosun resume calculator-1');
    const report = reportOf(smallFailure(), 'failed');
    const left = { snapshot: 'c0ffee', changedCount: 2 };
    for (const task of report.tasks.filter(({ state }) => state === 'failed'))
      task.attempts = task.attempts.map((attempt) => ({ ...attempt, ...left }));
    expect(nextCommands(report)[1]).toEqual({
      command: 'bosun diff tidy-1 --task verify',
      why: 'see what it left; it is not merged',
    });
    const { events, diffs } = smallFailure();
    const error = { kind: 'auth', message: 'p rejected the key from P_KEY (401)' } as const;
    const rejected = events.map((each) =>
      each.event.type === 'attempt.finished' && each.event.outcome.kind === 'failed'
        ? { ...each, event: { ...each.event, error } }
        : each,
    );
    expect(commands({ events: rejected, diffs }, 'failed')[0]).toBe('bosun resume tidy-1');
  });

  it('comes back the same from JSON, with nothing in it that a terminal obeys', () => {
    for (const fixture of [tenTasks(), hostile()]) {
      const report = reportOf(fixture, 'failed', ['held: \u009b31m']);
      const text = renderJson(report);
      expect(JSON.parse(text)).toEqual(report);
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
    }
  });
});

describe('the text', () => {
  it('says what happened, what went wrong and what to type', () => {
    const notes = ['memory is not limited: no writable cgroup v2'];
    expect(renderTextReport(reportOf(smallFailure(), 'failed', notes), plain)).toBe(`\
✗ tidy-1 failed after 5.5s
  3 tasks: 1 failed, 1 done, 1 skipped · 2 attempts · 2 files changed, +0 -2
  branch bosun/tidy-1 at 261c0229 (base 4a3e6938, from bosun.yaml)

Failed
  ✗ verify  command failed: make test ended with exit code 2
    │ cc -o a src/a.c
    │ undefined reference to \`dead'

Tasks
  ✓ done     sweep    cleaner  2 files  4.2s
  ✗ failed   verify                     1.3s
  – skipped  publish                          verify failed

Changed on the branch
  M src/a.c     sweep
  D src/dead.c  sweep

Isolation
  fenced: bubblewrap, own network
  memory is not limited: no writable cgroup v2

Next
  bosun retry verify  try again, then whatever needs it
  bosun diff tidy-1   see the changes of the tasks that are done
  bosun merge tidy-1  put them on your branch
`);
  });

  it('lets no control of an agent through, with or without colour', () => {
    const report = reportOf(hostile(), 'failed', ['\u001b[2Jnote']);
    const controls = /[^\P{Cc}\n]|[\u202a-\u202e]/u;
    expect(renderTextReport(report, plain)).not.toMatch(controls);
    const coloured = renderTextReport(report, { color: true, width: 100 });
    expect(coloured).toContain('\u001b[31m✗\u001b[0m');
    expect(coloured.replaceAll(/\u001b\[[\d;]*m/g, '')).not.toMatch(controls); // oxlint-disable-line no-control-regex
    expect(coloured).not.toContain('\u001b[31mm'); // the agent's own colour went, not only its first byte
  });

  it('stays within sixty lines for ten thousand tasks, ended or running', () => {
    const fixture = manyTasks(10_000, 100);
    const clash = { files: ['a'], with: ['task_1'] };
    const add = (event: Event): void => {
      fixture.events.push({ run: 'many-1', seq: fixture.events.length, atMs: 0, event });
    };
    for (let index = 0; index < 20; index += 1) {
      const task = `task_${index}`;
      add({ type: 'task.conflicted', task, attempt: 1, conflict: clash, marked: 'm' });
      add({ type: 'question.asked', id: task, task, text: 'go on?', default: 'no' });
      add({
        type: 'attempt.started',
        task: `task_${index + 50}`,
        attempt: 2,
        purpose: 'work',
        from: [],
        prompt: '',
      });
    }
    const notes = Array.from({ length: 10 }, (_, index) => `note ${index}`);
    for (const state of ['failed', 'running', 'interrupted'] as const) {
      const lines = renderTextReport(reportOf(fixture, state, notes), plain).split('\n');
      expect(lines.length).toBeLessThanOrEqual(60);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
      expect(lines).toContain('  … and 97 more');
    }
  });
});

describe('the page', () => {
  let scratch: string;
  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'bosun-report-'));
  });
  afterEach(() => rm(scratch, { recursive: true, force: true }));

  it('holds every part of the run as text', () => {
    const page = renderHtml(reportOf(tenTasks(), 'running', ['no network was reachable']));
    for (const text of [
      'running for 2m33s',
      'bosun answer ship yes',
      'Merge into main?',
      'settled by agent:developer',
      'for-each · 3 tasks · done',
      'benchmark, attempt 1: failed, 19.0s',
      'cannot open bench/baseline.json',
      'Not kept: bench/ipc.sock: a socket',
      '2 files left out, not allowed by the scope; kept in the snapshot',
      'package.json: outside the scope',
      'What the next attempt was told',
      'no network was reachable',
      '<td data-n="5"></td><td data-n=""></td><td>-  &quot;scripts&quot;: {},</td>',
    ]) {
      expectText(page, text);
    }
  });

  it('asks nothing of the network and has no script, no handler and no style of an element', () => {
    const page = renderHtml(reportOf(hostile(), 'failed'));
    expect(page).not.toMatch(/<(script|img|link|iframe|object|embed|form|base)\b/i);
    expect(page).not.toMatch(/<[^>]*\s(on\w+|style|src)=/i);
    expect(page.match(/href="[^"]*"/g)!.every((href) => /^href="#task-\d+"$/.test(href))).toBe(true);
    expect(page).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e]/u);
    expect(page).not.toMatch(/url\((?!#)|@import/);
  });

  it('is inert in a browser, and would be even if an escape were missed', async ({ skip }) => {
    skip(!existsSync(CHROMIUM), `needs a browser at ${CHROMIUM}`);
    const page = renderHtml(reportOf(hostile(), 'failed'));
    const missed = page.replace('</main>', () => `${SCRIPT}<style>h1{display:none}</style></main>`);
    const unguarded = missed.replace(/<meta http-equiv[^>]*>/, '');
    expect(titleOf(await dumpDom(scratch, page))).toBe('hostile-1 · failed');
    expect(titleOf(await dumpDom(scratch, missed))).toBe('hostile-1 · failed');
    expect(titleOf(await dumpDom(scratch, unguarded))).toBe('owned'); // the attack is a real one
  });

  it('stays small for a thousand tasks and says what the graph and the timeline leave out', () => {
    const page = renderHtml(reportOf(manyTasks(1_000), 'failed'));
    expect(page.length).toBeLessThan(3_000_000);
    expect(page.match(/<details class="task /g)).toHaveLength(1_000);
    expectText(page, '1,000 tasks: those that are equally far from the start share a box.');
    expectText(page, '850 shorter ones left out');
    expect(page.match(/class="box /g)).toHaveLength(25);
  });

  it('stays small for ten thousand tasks in one chain', () => {
    const page = renderHtml(reportOf(manyTasks(10_000, 1), 'failed'));
    expect(page.length).toBeLessThan(6_000_000);
    expectText(page, 'too many to draw');
    expectText(page, '8,000 more tasks left out');
  });

  it('cuts a diff of five megabytes and says how many lines are left out', () => {
    const fixture = smallFailure();
    const lines = 100_000;
    const line = `+${'x'.repeat(51)}\n`;
    fixture.diffs.set(
      'sweep',
      `diff --git a/big b/big\n--- a/big\n+++ b/big\n@@ -0,0 +1,${lines} @@\n${line.repeat(lines)}`,
    );
    const report = reportOf(fixture, 'failed');
    expect(renderJson(report).length).toBeLessThan(400_000);
    expect(report.totals.linesAdded).toBe(lines);
    const diff = taskOf(report, 'sweep').diff!;
    expect(diff.patch.split('\n').length - 1 + diff.linesLeftOut).toBe(lines + 4);
    const page = renderHtml(report);
    expect(page.length).toBeLessThan(500_000);
    expectText(page, '98,004 more lines left out');
  });

  it('cuts one line of five megabytes, wherever it stands', () => {
    const long = 'y'.repeat(5_000_000);
    const fixture = smallFailure();
    fixture.diffs.set('sweep', `diff --git a/${long} b/${long}\n@@ -0,0 +1 @@\n+${long}\n`);
    const history = new History('long-1', { name: 'long', tasks: { a: { run: long } } }).start('a');
    const outcome = { kind: 'failed', reason: 'exit', message: long } as const;
    history.print('a', long).end('a', 1, outcome, 1, [], { feedback: long, output: long });
    history.add(
      { type: 'task.finished', task: 'a', outcome, output: long },
      { type: 'run.finished', state: 'failed' },
    );
    for (const each of [fixture, { events: history.events, diffs: new Map<string, string>() }]) {
      const report = reportOf(each, 'failed');
      expectText(renderHtml(report), 'yyy… (');
      expect(renderHtml(report).length).toBeLessThan(100_000);
      expect(renderTextReport(report, plain).length).toBeLessThan(4_000);
    }
  });
});

function titleOf(dom: string): string | undefined {
  return /<title>([^<]*)<\/title>/.exec(dom)?.[1];
}

/** The page as a browser has it after loading, from a file. */
async function dumpDom(scratch: string, page: string): Promise<string> {
  const file = join(scratch, 'page.html');
  await writeFile(file, page);
  const options = [
    'headless',
    'no-sandbox',
    'disable-gpu',
    'disable-quic',
    'no-first-run',
    'disable-background-networking',
  ];
  const more = [
    'disable-component-update',
    'disable-sync',
    `user-data-dir=${join(scratch, 'profile')}`,
    'dump-dom',
  ];
  const argv = [CHROMIUM, ...[...options, ...more].map((option) => `--${option}`), `file://${file}`];
  const { stdout } = await capture(argv, { signal: AbortSignal.timeout(50_000) });
  return stdout.toString();
}
