import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import { describeUnit } from '../src/schedule/money/budget-words.ts';
import { QueuedMessage } from '../src/doors/cli/live/queued-message.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { renderFrame } from '../src/doors/cli/live/frame.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { painter } from '../src/doors/cli/output.ts';
import { columnsOf } from '../src/report/text/columns.ts';
import { crew, spentRun, tokens, used } from './fixtures/agents.ts';
import { History } from './fixtures/report.ts';

function linesOf(events: Recorded[], withOutput = true): string {
  const lines = new EventLines({ paint: painter(false), withOutput });
  return events.map((event) => lines.render(event)).join('');
}

function frameOf(run: History, columns: number, nowMs = run.events.at(-1)!.atMs): string {
  const model = new LiveModel();
  model.see(run.events);
  const frame = renderFrame(model, {
    columns,
    rows: 24,
    nowMs,
    paint: painter(false),
    hasKeys: true,
    notice: '',
  });
  for (const line of frame) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  return frame.join('\n');
}

/** A run of one agent at work. */
function atWork(budget?: { usd: number }): History {
  return new History('w-1', {
    name: 'w',
    ...(budget && { budget }),
    agents: { writer: { runtime: 'claude-code' } },
    tasks: { write: { agent: 'writer', prompt: 'Write' } },
  }).start('write');
}

function model(usd: number | null, count: number): Event {
  return { type: 'model.used', task: 'write', attempt: 1, ...used(usd, tokens(count, 0)) };
}

describe('the lines of a run', () => {
  it('tell what agents say and do, what they cost and how they went on', () => {
    expect(linesOf(crew().events)).toBe(`\
  0.0s  crew-7     started: 3 tasks from 4a3e6938
  0.0s  design     started (attempt 1)
  1.0s  design     │ I will write the plan.
  1.0s  design     → Write plan.md
  1.0s  design     changed plan.md
  1.0s  design     done in 4.0s, 1 file changed, $0.25
  1.0s  implement  started (attempt 1)
  1.0s  review     started (attempt 1)
  1.0s  crew-7     anthropic: rate limit: next request in 30.0s
 11.0s  crew-7     anthropic: rate limit: next request in 30.0s
 41.0s  implement  attempt 1 failed after 40.0s: claude-code could not go on (auth: the key is not accepted)
 41.0s  implement  continues with codex: claude-code failed (auth): the key is not accepted
 42.0s  crew-7     90 % of the budget is used: the run has used $0.45 of $0.50
 43.0s  review     asks: Raise it to $1.00 and go on?  (bosun answer run+budget yes|no --run crew-7)
 48.0s  review     answered yes, by person (Raise it to $1.00 and go on?)
 48.0s  review     the budget of the run is $1.00 now (by person)
 48.0s  implement  done in 9.0s, 1 file changed, $0.30
 49.0s  review     done in 50.0s, price unknown
 49.0s  crew-7     done, over $0.55
`);
  });

  it('leave out what agents say and do where only the course of the run is wanted', () => {
    const lines = linesOf(crew().events, false);
    expect(lines).not.toMatch(/│|→/);
    expect(lines).toContain('continues with codex');
  });

  it('say that the budget stopped a run, also where nobody was asked', () => {
    const lines = linesOf(spentRun().events);
    expect(lines).toContain('write     has to stop: the run has used $0.52 of $0.50');
    expect(lines).toContain('spent-2   stopped: its budget is spent, $0.52');
  });

  it('tell another runtime once, and what people said to an agent', () => {
    const fallback = { runtime: 'codex' as const, because: 'claude-code failed (auth): no' };
    const start = (attempt: number): Event => ({
      type: 'attempt.started',
      task: 'write',
      attempt,
      purpose: 'work',
      from: [],
      prompt: '',
      fallback,
      session: { id: 's', fork: false },
    });
    const run = atWork().add(start(2), start(3), {
      type: 'task.steered',
      task: 'write',
      text: 'use\ntabs',
      by: 'person',
    });
    const lines = linesOf(run.events);
    expect(lines.match(/continues with codex/g)).toHaveLength(1);
    expect(lines).toContain('started (attempt 3, remembers what it did)');
    expect(lines).toMatch(/person says: use\n +tabs/);
  });

  it('say whether what a person said was read, or that the task ended first', () => {
    const say = (text: string): Event => ({ type: 'task.steered', task: 'write', text, by: 'person' });
    const read: Event = { type: 'attempt.steered', task: 'write', attempt: 1, steers: [1] };
    const end: Event = { type: 'task.finished', task: 'write', outcome: { kind: 'done' } };
    expect(linesOf(atWork().add(say('a'), read, end).events)).toMatch(/write +read the message\n.* done\n$/);
    const unread = linesOf(atWork().add(say('a'), read, say('b'), end).events);
    expect(unread).toMatch(/ done\n.*write +1 message not read: the task ended first\n$/);
  });

  it('are followed by what the live view says of a message that was typed in it', () => {
    const message = new QueuedMessage();
    const events = (...types: ('attempt.steered' | 'task.finished')[]): Recorded[] =>
      types.flatMap((type) =>
        ['other', 'write'].map((task) => ({ event: { type, task } }) as unknown as Recorded),
      );
    expect(message.queue('write', 'Write')).toBe('message queued for Write');
    expect(message.seen(events('attempt.steered').slice(0, 1))).toBeUndefined();
    expect(message.seen(events('attempt.steered'))).toBe('Write read the message');
    expect(message.seen(events('task.finished'))).toBe('Write ended before it read the message');
    message.forget();
    expect(message.seen(events('attempt.steered', 'task.finished'))).toBeUndefined();
  });

  it('do not take the cost since a run was resumed for all of it', () => {
    const resumed = crew().events.slice(20);
    expect(linesOf(resumed)).toMatch(/crew-7 +done\n$/);
  });

  it('never let through what an agent says to the terminal', () => {
    const event: Event = {
      type: 'attempt.agent',
      task: 'write',
      attempt: 1,
      event: { kind: 'text', text: 'a\u001b]0;title\u0007\u001b[2Jb\nc\u0007' },
    };
    expect(linesOf(atWork().add(event).events)).toContain('│ ab\n  0.0s  write     │ c\\x07\n');
  });
});

describe('the live view of agents', () => {
  it('shows what each task and the run cost, and what the agent did last', () => {
    const run = atWork({ usd: 5 }).add(model(0.42, 120_400), {
      type: 'attempt.agent',
      task: 'write',
      attempt: 1,
      event: { kind: 'tool-call', id: '1', name: 'Bash', input: '{"command":"npm test"}' },
    });
    const frame = frameOf(run, 80);
    expect(frame).toContain('  $0.42 of $5.00 · 120k tokens');
    expect(frame).toMatch(/● running +write +writer +0\.0s +\$0\.42 +→ Bash npm test/);
  });

  it('says nothing of money where no model is used', () => {
    expect(frameOf(atWork(), 80)).not.toMatch(/\$|tokens/);
  });

  it('shows a price that is not known as that', () => {
    expect(frameOf(atWork().add(model(null, 900)), 80)).toMatch(/\n {2}900 tokens\n[^$]*\$\?/);
    expect(frameOf(atWork().add(model(null, 900), model(0.3, 100)), 80)).toContain('over $0.30 · 1k tokens');
  });

  it('shows the whole of a question that an agent asks, and that its task waits', () => {
    const text = `Bash wants to run: rm -rf ${'build/'.repeat(8)} and ${'more '.repeat(10)}?`;
    const ask = { id: 'write+1.1', text, default: 'no' as const };
    const run = atWork().add(
      { type: 'attempt.asked', task: 'write', attempt: 1, ...ask },
      { type: 'question.asked', task: 'write', ...ask },
    );
    const frame = frameOf(run, 60);
    expect(frame).toContain('1 asking');
    expect(frame).not.toContain('running');
    expect(frame).toMatch(/^\? {2}write/m);
    expect(frame.replaceAll(/\n {2}\| |\s+/g, ' ')).toContain(`? write: ${text}`.replaceAll(/\s+/g, ' '));
    expect(frame).toContain('[y]es [n]o');
  });

  it('counts down while a provider has to be waited for', () => {
    const run = atWork().add({
      type: 'model.waiting',
      provider: 'anthropic',
      delayMs: 30_000,
      why: 'rate limit',
    });
    const nowMs = run.events.at(-1)!.atMs;
    expect(frameOf(run, 80, nowMs + 2000)).toContain('anthropic: rate limit: next request in 28.0s');
    expect(frameOf(run, 80, nowMs + 31_000)).not.toContain('next request');
  });
});

it('a question that ended with its attempt does not make a log say that the budget was too small', () => {
  const mark = {
    account: 'run',
    unit: 'usd',
    spent: 0.5,
    limit: 1,
    next: 5,
    raiseTo: 2,
    isHard: false,
  } as const;
  for (const by of ['ended', 'person']) {
    const run = atWork({ usd: 1 });
    const at = { task: 'write', attempt: 1 };
    run.add({ type: 'attempt.asked', ...at, id: 'q1', text: 'More?', default: 'no', budget: mark });
    const { raiseTo: _, isHard: __, ...stops } = mark;
    run.add({
      type: 'attempt.answered',
      ...at,
      id: 'q1',
      answer: 'no',
      by,
      ...(by === 'person' && { stops }),
    });
    run.add({ type: 'run.finished', state: 'cancelled', because: 'budget' });
    const told = linesOf(run.events).trimEnd().split('\n').at(-1)!;
    expect(told).toContain('stopped: its budget');
    expect(told.includes('too small')).toBe(by === 'person');
  }
});

it('the column of names has room for those that are known, from the first line on', () => {
  const lines = new EventLines({ paint: painter(false), withOutput: true, names: ['fix[developer 2]'] });
  const line = (task: string): string =>
    lines.render({
      run: 'w-1',
      seq: 1,
      atMs: 0,
      event: { type: 'attempt.output', task, attempt: 1, stream: 'stdout', text: 'x' },
    });
  expect(line('a').indexOf('│')).toBe(line('fix[developer 2]').indexOf('│'));
});

it('one of something is told in the singular', () => {
  expect([1, 2].map((n) => describeUnit('requests', n))).toEqual(['1 request', '2 requests']);
  expect(describeUnit('minutes', 1)).toBe('1 minute');
});
