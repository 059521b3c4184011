/** What many runs cost: sums of journals that the core wrote, as the command shows them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import path from 'node:path';
import type { Event, Fact } from '../src/contract/event.ts';
import type { Totals } from '../src/contract/totals-schema.ts';
import { WorkflowFile, type WorkflowSource } from '../src/contract/workflow.ts';
import { Bosun } from '../src/doors/library.ts';
import { parseSince } from '../src/operations/totals.ts';
import { describeForecast } from '../src/report/forecast-words.ts';
import { csvLine } from '../src/report/text/csv.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import { createHome } from '../src/run/prepare-home.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { runView, taskView } from '../src/schedule/views/view.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { bosun } from './fixtures/cli.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const HOUR_MS = 3_600_000;
const crew: WorkflowSource = {
  name: 'crew',
  'on-failure': 'continue',
  agents: { dev: { runtime: 'codex' }, lead: { runtime: 'claude-code' } },
  tasks: {
    plan: { agent: 'lead', prompt: 'x' },
    build: { agent: 'dev', prompt: 'x', 'for-each': ['a', 'b'] },
    inline: { agent: { runtime: 'opencode' }, prompt: 'x' },
    lint: { run: 'true' },
  },
};

let repository: TestRepository;
let library: Bosun;

beforeAll(async () => {
  repository = await makeRepository();
  library = new Bosun(repository.path);
  const now = Date.now();
  await writeRun(now - 100 * HOUR_MS);
  await writeRun(now - 2 * HOUR_MS, 'build.1');
  await writeRun(now - HOUR_MS);
});

afterAll(() => repository[Symbol.asyncDispose]());

/** Each attempt takes a second; agents use a model of their own, at 50 cents, and `plan` a second one of unknown price. */
async function writeRun(atMs: number, failing?: string): Promise<void> {
  const home = await createHome({ top: repository.path, commonDir: path.join(repository.path, '.git') });
  await using store = openSqliteStore(home.journal);
  const base = await repository.git('rev-parse', 'HEAD');
  const run = { workflow: WorkflowFile.parse(crew), source: 'crew', inputs: {}, base, dirty: false };
  const { id, claim } = await createRun(store, run, atMs);
  claim[Symbol.dispose]();
  const { state, lastSeq } = await loadRun(store, id);
  const facts: Fact[] = [];
  const events: Event[] = [];
  const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 };
  for (let next: Event | undefined; (next = decide(state) ?? facts.shift());) {
    apply(state, next, atMs);
    events.push(next);
    if (next.type !== 'attempt.started') continue;
    const { task, attempt } = next;
    const use = (model: string, usd: number | null): Fact => {
      return { type: 'model.used', task, attempt, provider: 'p', model, tokens, usd };
    };
    if (task === 'plan') facts.push(use('=cmd()|model', 0.5), use('odd', null));
    else if (task !== 'lint') facts.push(use('small', 0.5));
    const outcome =
      task === failing
        ? ({ kind: 'failed', reason: 'agent', message: 'no' } as const)
        : ({ kind: 'done' } as const);
    facts.push({ type: 'attempt.finished', task, attempt, outcome, durationMs: 1000 });
  }
  const tasks = [...state.nodes.values()].map((node) => taskView(node));
  await store.append(id, lastSeq, {
    entries: events.map((event) => ({ atMs, event })),
    run: runView(state),
    tasks,
    handled: [],
  });
}

const shown = ({ rows }: Totals): string[] =>
  rows.map(
    ({ key, runs, tasks, failed, usd, workedMs }) => `${key} ${runs} ${tasks} ${failed} $${usd} ${workedMs}`,
  );

describe('sums', () => {
  it('by agent are those of its tasks, each counted once', async () => {
    expect(shown(await library.totals('agent'))).toEqual([
      'dev 3 6 1 $3 6000',
      'lead 3 3 0 $1.5 3000',
      'opencode 3 3 0 $1.5 3000',
      '(commands) 3 3 0 $0 3000',
    ]);
  });

  it('by runtime, model and task too', async () => {
    expect(shown(await library.totals('runtime'))).toEqual([
      'codex 3 6 1 $3 6000',
      'claude-code 3 3 0 $1.5 3000',
      'opencode 3 3 0 $1.5 3000',
      '(commands) 3 3 0 $0 3000',
    ]);
    const models = await library.totals('model');
    expect(shown(models)).toEqual([
      'small 3 9 1 $4.5 9000',
      '=cmd()|model 3 3 0 $1.5 3000',
      'odd 3 3 0 $0 3000',
    ]);
    expect(models.rows.at(-1)).toMatchObject({ unpriced: 3, requests: 3, tokens: 33 });
    expect(shown(await library.totals('task'))[0]).toBe('crew: build 3 6 1 $3 6000');
  });

  it('are of runs since then alone', async () => {
    const lately = await library.totals('task', { since: '3h' });
    expect(lately).toMatchObject({ runs: 2, isCut: false, per: 'task' });
    expect(lately.rows[0]).toMatchObject({ key: 'crew: build', tasks: 4, failed: 1, failureRate: 0.25 });
    expect((await library.history(undefined, { since: '3h' })).map(({ id }) => id)).toEqual([
      'crew-3',
      'crew-2',
    ]);
    expect((await library.history(1, { since: '3h' })).map(({ id }) => id)).toEqual(['crew-3']);
  });

  it('say what the next run may cost, by those that were done', async () => {
    const forecast = await library.forecast('crew');
    expect(forecast).toMatchObject({ runs: 2, failed: 1, unpriced: 2 });
    expect(forecast.usd).toEqual({ low: 2, middle: 2, high: 2 });
    expect(await library.forecast('other')).toMatchObject({ runs: 0, failed: 0, usd: null, ms: null });
    expect(describeForecast({ ...forecast, ms: { low: 480_000, middle: 500_000, high: 571_000 } })).toBe(
      'usually $2.00 and 8m00s to 9m31s, by its last 2 runs that were done; 1 run failed meanwhile; some of what they used has no price',
    );
  });

  it('are shown as a table, as JSON, and as CSV in which nothing is a formula', async () => {
    const table = await bosun(repository.path, 'history', '--by', 'model');
    expect(table.stdout.split('\n')[0]).toMatch(/^model +runs +tasks +failed +cost +tokens +time$/);
    expect(table.stdout).toMatch(/^small +3 +9 +11% +\$4\.50 +99 +9\.0s$/m);
    expect(table.stdout).toContain('$0.00+?');
    const csv = await bosun(repository.path, 'history', '--by', 'model', '--csv');
    expect(csv.stdout.split('\n')[0]).toMatch(/^model,runs,tasks,failed,"failure rate",usd/);
    expect(csv.stdout).toContain(`"'=cmd()|model",3,3,0,0,1.5,0,3,33,3\n`);
    const runs = await bosun(repository.path, 'history', '--since', '3h', '--csv');
    expect(runs.stdout.split('\n').map((line) => line.split(',')[0])).toEqual([
      'run',
      'crew-3',
      'crew-2',
      '',
    ]);
    const all = await bosun(repository.path, 'history', '--json');
    const states = [
      ...new Set(
        all.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).state),
      ),
    ];
    const named = states.flatMap((state) => ['--state', state]);
    expect((await bosun(repository.path, 'history', '--json', ...named)).stdout).toBe(all.stdout);
    expect(await bosun(repository.path, 'history', '--state', 'paused')).toMatchObject({
      stdout: '',
      stderr: 'no run is like that; see all with: bosun history\n',
    });
    expect((await bosun(repository.path, 'history', '--csv', '--json')).code).toBe(2);
  });
});

describe('since', () => {
  const now = Date.parse('2026-11-18T12:00:00Z');

  it.each([
    ['7d', now - 7 * 24 * HOUR_MS],
    ['1.5h', now - 1.5 * HOUR_MS],
    ['2026-11-01', new Date(2026, 10, 1).getTime()],
    ['2026-11-01T09:00', new Date(2026, 10, 1, 9).getTime()],
    ['2026-11-01T09:00Z', Date.parse('2026-11-01T09:00Z')],
  ])('%s is a time', (since, atMs) => expect(parseSince(since, now)).toBe(atMs));

  it.each(['', '7', '-7d', '2026-02-30', '2026-13-01', 'yesterday', '2026-11-01T99:00', '\u001b[2J'])(
    '%j is refused',
    (since) => {
      expect(() => parseSince(since, now)).toThrow(/since must be a duration or a date/);
      expect(() => parseSince(since, now)).not.toThrow('\u001b');
    },
  );
});

it('a cell of CSV is no formula, has no control characters, and its number stays a number', () => {
  const cells = [
    '=1+1',
    '+1',
    '-1',
    '@x',
    ' =x',
    '\t=x',
    'a,b',
    'say "x"',
    'a\nb',
    '\u001b[2Jx',
    'plain',
    -1,
    null,
  ];
  expect(csvLine(cells)).toBe(
    `"'=1+1","'+1","'-1","'@x","' =x",\\t=x,"a,b","say ""x""",a\\nb,\\x1b[2Jx,plain,-1,\n`,
  );
});
