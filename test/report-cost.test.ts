import { describe, expect, it } from 'vitest';
import type { RunReport } from '../src/contract/report.ts';
import { buildReport } from '../src/report/build.ts';
import { renderHtml } from '../src/report/html/html.ts';
import { forProvider, raiseCommand, shortCount, tellWaiting } from '../src/report/money.ts';
import { describeUsd } from '../src/schedule/money/budget-words.ts';
import { journalHash } from '../src/report/journal-hash.ts';
import { renderTextReport } from '../src/report/text/text.ts';
import { crew, spentRun, tokens, used } from './fixtures/agents.ts';
import { History } from './fixtures/report.ts';

function crewReport(): RunReport {
  return buildReport(crew().events, { diffs: new Map(), shownState: 'done' });
}

function attemptsOf(report: RunReport, task: string): RunReport['tasks'][number]['attempts'] {
  return report.tasks.find(({ id }) => id === task)!.attempts;
}

describe('what a report says of money', () => {
  it('adds up what was metered, by kind; a price that is not known makes the sum unknown', () => {
    const { totals, tasks } = crewReport();
    expect(totals.cost).toEqual({
      usd: null,
      usdKnown: 0.55,
      tokens: 48_390,
      tokensByKind: tokens(23_200, 1190, 20_000, 4000),
      requests: 4,
      unpriced: 1,
      ownLogin: 1,
      replayed: 0,
      estimated: 0,
    });
    expect(tasks.map(({ id, cost }) => [id, cost.usd, cost.requests])).toEqual([
      ['design', 0.25, 1],
      ['implement', 0.3, 2],
      ['review', null, 1],
    ]);
  });

  it('says of each attempt who did it, in which conversation, and what went wrong', () => {
    const report = crewReport();
    expect(attemptsOf(report, 'design')[0]).toMatchObject({
      runtime: 'claude-code',
      models: ['claude-opus-5-5'],
      session: 'session-1',
      turns: 2,
      toolCalls: 1,
      error: null,
      fallback: null,
    });
    const [first, second] = attemptsOf(report, 'implement');
    expect(first).toMatchObject({
      runtime: 'claude-code',
      error: { kind: 'auth', message: 'the key is not accepted', status: 401 },
      cost: { requests: 0, usd: null },
    });
    expect(second).toMatchObject({
      runtime: 'codex',
      fallback: { runtime: 'codex', because: 'claude-code failed (auth): the key is not accepted' },
      session: 'thread-9',
    });
  });

  it('holds what a runtime claims against what was metered; up to 5 % is no difference', () => {
    const report = crewReport();
    expect(attemptsOf(report, 'design')[0]!.claim).toEqual({ usd: 0.251, tokens: 25_290, differs: false });
    expect(attemptsOf(report, 'implement')[1]!.claim).toEqual({ usd: null, tokens: 12_600, differs: true });
    expect(attemptsOf(report, 'review')[0]!.claim).toBeNull();
  });

  it('tells of each budget what it was, what was used of it, and who raised it', () => {
    const { budgets, run } = crewReport();
    const at = (ms: number): number => run.startedAtMs + ms;
    expect(budgets).toEqual([
      {
        account: 'run',
        limits: [
          { unit: 'usd', limit: 1, spent: 0.55 },
          { unit: 'minutes', limit: 30, spent: 49 / 60 },
        ],
        warnings: [{ atMs: at(42_000), unit: 'usd', spent: 0.45, limit: 0.5 }],
        raises: [{ atMs: at(48_000), unit: 'usd', limit: 1, by: 'person' }],
      },
      {
        account: 'agent:critic',
        limits: [{ unit: 'requests', limit: 10, spent: 1 }],
        warnings: [],
        raises: [],
      },
      {
        account: 'task:review',
        limits: [{ unit: 'tokens', limit: 500_000, spent: 3100 }],
        warnings: [],
        raises: [],
      },
    ]);
  });

  it('goes by the limit that was set last, also where the workflow has none', () => {
    const run = new History('w-1', { name: 'w', tasks: { a: { run: 'true' } } });
    for (const usd of [3, 2])
      run.add({ type: 'budget.set', account: 'run', limits: { usd, requests: 9 }, by: 'person' });
    const { budgets } = buildReport(run.events, { diffs: new Map(), shownState: 'running' });
    expect(budgets.map(({ limits, raises }) => [limits, raises.length])).toEqual([
      [
        [
          { unit: 'usd', limit: 2, spent: 0 },
          { unit: 'requests', limit: 9, spent: 0 },
        ],
        4,
      ],
    ]);
  });

  it('counts the time that was waited for a provider once', () => {
    expect(crewReport().waits).toEqual([
      { provider: 'anthropic', why: 'rate limit', count: 2, waitedMs: 40_000 },
    ]);
  });

  it('has what agents said and did in the log of their tasks', () => {
    const { log } = crewReport().tasks[0]!;
    expect(log.lines).toEqual([
      { attempt: 1, stream: 'agent', text: 'I will write the plan.' },
      { attempt: 1, stream: 'agent', text: '→ Write plan.md' },
    ]);
  });

  it('counts the tasks within a task to its cost, and once in all', () => {
    const run = new History('w-1', {
      name: 'w',
      agents: { writer: { runtime: 'claude-code' } },
      tasks: { each: { 'for-each': ['a', 'b'], agent: 'writer', prompt: 'x' } },
    });
    run.add({ type: 'task.expanded', task: 'each', kind: 'for-each', items: ['a', 'b'] });
    for (const task of ['each.1', 'each.2']) {
      run.start(task);
      run.add({ type: 'model.used', task, attempt: 1, ...used(0.1, tokens(10, 1)) });
    }
    const { tasks, totals } = buildReport(run.events, { diffs: new Map(), shownState: 'running' });
    expect(tasks.map(({ id, cost }) => [id, cost.usd])).toEqual([
      ['each', 0.2],
      ['each.1', 0.1],
      ['each.2', 0.1],
    ]);
    expect(totals.cost.usd).toBe(0.2);
  });

  it('closes what attempts asked an engine that is gone', () => {
    const run = new History('w-1', { name: 'w', tasks: { a: { run: 'true' } } }).start('a');
    const ask = { id: 'a+1.1', text: 'May I?', default: 'no' as const };
    run.add(
      { type: 'attempt.asked', task: 'a', attempt: 1, ...ask },
      { type: 'question.asked', task: 'a', ...ask },
      { type: 'run.isolation', kind: 'fences', notes: [] },
    );
    const { questions, next } = buildReport(run.events, { diffs: new Map(), shownState: 'running' });
    expect(questions[0]).toMatchObject({ answer: 'no', by: 'ended' });
    expect(next.map(({ command }) => command)).toEqual(['bosun logs -f']);
  });
});

describe('the text and the page', () => {
  it('say it all in words, in 80 columns', () => {
    const text = renderTextReport(crewReport(), { color: false, width: 80 });
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text.slice(text.indexOf('Tasks'), text.indexOf('Isolation'))).toBe(`\
Tasks
  ✓ done  design     writer  1 file              4.0s   $0.25
  ✓ done  implement  writer  2 attempts, 1 file  49.0s  $0.30
  ✓ done  review     critic                      50.0s  price unknown

Fallbacks
  implement  went on with codex: claude-code failed (auth): the key is not
    accepted

Cost
  over $0.55 for 4 requests; tokens: 23,200 in, 1,190 out, 20,000 from the
    cache, 4,000 into the cache
  the price of 1 request is not known, and not in the dollars: add the model
    to "prices" of the configuration
  1 request metered, paid by the agent's own login: in dollars, what a key
    would have cost
  budget of the run: $0.55 of $1.00, 0.8 of 30 minutes; 90 % used after 42.0s;
    set to $1.00 by person after 48.0s
  budget of agent critic: 1 of 10 requests
  budget of task review: 3,100 of 500,000 tokens
  waited 40.0s for anthropic: rate limit, 2 times
  implement: codex says 12,600 tokens; metered: 20,000 tokens

`);
  });

  it('have the same on the page', () => {
    const page = renderHtml(crewReport());
    for (const words of [
      'over $0.55',
      'claude-code · claude-opus-5-5 · 2 turns, 1 tool call',
      'went on with codex: claude-code failed (auth): the key is not accepted',
      'codex says 12,600 tokens; metered: 20,000 tokens',
      'auth: the key is not accepted',
      'session thread-9',
      'budget of task review: 3,100 of 500,000 tokens',
      'of $1.00, 30 minutes · 48,390 tokens',
    ])
      expect(page.includes(words), words).toBe(true);
    // Once with its attempt, once with what is said of all.
    expect(page.split('codex says 12,600 tokens')).toHaveLength(3);
  });

  it('say that a recording answered, and cost nothing', () => {
    const events = crew().events.map((recorded) =>
      recorded.event.type === 'model.used'
        ? { ...recorded, event: { ...recorded.event, replayed: true as const } }
        : recorded,
    );
    const report = buildReport(events, { diffs: new Map(), shownState: 'done' });
    expect(renderTextReport(report, { color: false, width: 120 })).toContain(
      '  4 requests answered from a recording, at no cost: in dollars, what the recording cost\n',
    );
    expect(journalHash(events)).toBe(journalHash(crew().events));
  });

  it('say that the budget stopped a run, and what to type to go on', () => {
    const report = buildReport(spentRun().events, { diffs: new Map(), shownState: 'cancelled' });
    expect(report.run.because).toBe('budget');
    const text = renderTextReport(report, { color: false, width: 80 });
    expect(text).toContain('■ spent-2 stopped after 1.0s: its budget is spent\n');
    expect(text).toContain('  bosun budget spent-2 --usd 1  raise its budget\n  bosun resume spent-2 ');
    expect(renderHtml(report)).toContain('its budget is spent');
  });

  it('say that the budget was too small for a request, how much that is, and what is enough', () => {
    const events = spentRun().events.map((recorded) => {
      const { event } = recorded;
      const short = { spent: 0.02, limit: 0.5, next: 1.14 };
      if (event.type === 'attempt.answered')
        return { ...recorded, event: { ...event, stops: { ...event.stops!, ...short } } };
      if (event.type !== 'attempt.asked') return recorded;
      return { ...recorded, event: { ...event, budget: { ...event.budget!, ...short, isHard: true } } };
    });
    const report = buildReport(events, { diffs: new Map(), shownState: 'cancelled' });
    const text = renderTextReport(report, { color: false, width: 120 });
    expect(text).toContain(
      'stopped after 1.0s: its budget is too small for the next request, which can cost up to $1.14\n',
    );
    expect(text).toContain('of $0.50; too small for a request that can cost up to $1.14\n');
    expect(text).toContain('  bosun budget spent-2 --usd 2  raise its budget\n');
  });
});

describe('figures', () => {
  it('of the same cost are the same, however it was added up', () => {
    const added = [0.0011, 0.00105, 0.0011].reduce((sum, usd) => sum + usd, 0);
    const other = 0.00325;
    expect(added).not.toBe(other);
    expect([added, other, 0.00325 - 1e-12].map(describeUsd)).toEqual(['$0.0033', '$0.0033', '$0.0033']);
    expect([0, 0.1, 1.005, 0.0999].map(describeUsd)).toEqual(['$0.00', '$0.10', '$1.01', '$0.0999']);
  });

  it('are short where there is little room', () => {
    expect([0, 950, 1000, 9540, 120_400, 999_600, 1_250_000, 12_300_000].map(shortCount)).toEqual([
      '0',
      '950',
      '1k',
      '9.5k',
      '120k',
      '1M',
      '1.3M',
      '12M',
    ]);
  });

  it.each([
    [['a', 'c', 'd'], 999, 'anthropic rate limit: next request in 1.0s (a, c and d wait)'],
    [['a'], 59_000, 'anthropic rate limit: next request in 59.0s (a waits)'],
    [['a', 'b'], 61_000, 'anthropic rate limit: next request in 1m01s (a and b wait)'],
    [
      ['a', 'b', 'c', 'd', 'e', 'f'],
      0,
      'anthropic rate limit: next request in 0.0s (a, b, c, d and 2 more wait)',
    ],
    [undefined, 500, 'anthropic rate limit: next request in 0.5s'],
  ])('says who waits for a provider: %j', (tasks, leftMs, text) => {
    const wait = { provider: 'anthropic', why: 'anthropic rate limit', ...(tasks && { tasks }) };
    expect(tellWaiting(wait, leftMs)).toBe(text);
  });

  it('name a provider once', () => {
    expect(forProvider({ provider: 'anthropic', why: 'rate limit' })).toBe(' for anthropic: rate limit');
    expect(forProvider({ provider: 'openai', why: 'openai is overloaded' })).toBe(': openai is overloaded');
  });

  it('raise the limit that is reached, by as much as it takes', () => {
    const spending = { requests: 4, tokens: tokens(900, 100), usd: 7, unpriced: 0 };
    expect(raiseCommand('w-1', spending, { usd: 5 })).toBe('bosun budget w-1 --usd 10');
    expect(raiseCommand('w-1', spending, { usd: 0.1 })).toBe('bosun budget w-1 --usd 7.1');
    expect(raiseCommand('w-1', spending, { usd: 8, tokens: 1000 })).toBe('bosun budget w-1 --tokens 2000');
    expect(raiseCommand('w-1', undefined, { usd: 8, minutes: 10 })).toBe('bosun budget w-1 --minutes 20');
    const dear = { unit: 'usd', next: 1.14 } as const;
    expect(raiseCommand('w-1', undefined, { usd: 1, minutes: 10 }, dear)).toBe('bosun budget w-1 --usd 2');
    expect(raiseCommand('w-1', undefined, {})).toBe('bosun budget w-1');
  });
});
