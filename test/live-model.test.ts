import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { renderFrame, type FrameOptions } from '../src/doors/cli/live/frame.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { painter } from '../src/doors/cli/output.ts';
import { columnsOf } from '../src/report/text/columns.ts';

/** A model that has seen the beginning of a run, and a way to show it more. */
function modelOf(tasks: WorkflowSource['tasks']): {
  model: LiveModel;
  see: (atMs: number, ...events: Event[]) => void;
} {
  const model = new LiveModel();
  let seq = 0;
  const see = (atMs: number, ...events: Event[]): void =>
    model.see(events.map((event): Recorded => ({ run: 'w-1', seq: ++seq, atMs, event })));
  const checked = workflow({ name: 'w', tasks });
  see(0, {
    type: 'run.created',
    id: 'w-1',
    workflow: checked,
    source: 'test',
    inputs: {},
    base: 'abc',
    dirty: false,
  });
  return { model, see };
}

function started(task: string, attempt = 1): Event {
  return { type: 'attempt.started', task, attempt, purpose: 'work', from: [], prompt: '' };
}

function printed(task: string, text: string): Event {
  return { type: 'attempt.output', task, attempt: 1, stream: 'stdout', text };
}

function ended(task: string, durationMs = 1): Event[] {
  return [
    { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs },
    { type: 'task.finished', task, outcome: { kind: 'done' } },
  ];
}

function frame(model: LiveModel, options: Partial<FrameOptions> = {}): string[] {
  const usual = { columns: 100, rows: 30, nowMs: 5000, hasKeys: true, paint: painter(false), notice: '' };
  return renderFrame(model, { ...usual, ...options });
}

const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`task-${n}`, { run: 'true' }]));

describe('the live view', () => {
  it('shows each task with its state, its time and the last line it printed', () => {
    const { model, see } = modelOf({ one: { run: 'true' }, two: { run: 'true', needs: ['one'] } });
    see(1000, started('one'), printed('one', 'first\nsecond\n\n'));
    expect(model.rows(10, 3500).rows).toMatchObject([
      { id: 'one', depth: 0, state: 'running', agent: '', attempt: 1, elapsedMs: 2500, line: 'second' },
      { id: 'two', depth: 0, state: 'waiting', agent: '', attempt: 0, elapsedMs: undefined, line: '' },
    ]);
    see(4000, ...ended('one', 3000));
    expect(model.rows(10, 9000).rows[0]).toMatchObject({ state: 'done', elapsedMs: 3000, line: '' });
  });

  it('counts a group neither at the top nor among what there is no room for', () => {
    const { model, see } = modelOf({ w: { run: 'true', 'for-each': ['a', 'b', 'c', 'd'] } });
    see(1, { type: 'task.expanded', task: 'w', kind: 'for-each', items: ['a', 'b', 'c', 'd'] });
    see(1, { type: 'tasks.ready', tasks: ['w.1', 'w.2', 'w.3', 'w.4'] });
    see(1, started('w.1'), started('w.2'));
    const { rows, left, leftCount } = model.rows(2, 2);
    expect(rows.map(({ id }) => id)).toEqual(['w.1', 'w.2']);
    expect([left, leftCount]).toEqual([{ ready: 2 }, 2]);
    expect(model.run!.counts).toEqual({ running: 2, ready: 2 });
  });

  it('counts the time of all attempts of a task', () => {
    const { model, see } = modelOf({ one: { run: 'true' }, two: { run: 'true' } });
    see(1000, started('one'), ...ended('one'), started('two'));
    see(9000, { type: 'run.resumed', by: 'person' });
    see(
      9000,
      { type: 'attempt.finished', task: 'two', attempt: 1, outcome: { kind: 'lost' }, durationMs: 700 },
      started('two', 2),
    );
    expect(model.rows(10, 9500).rows.map(({ elapsedMs }) => elapsedMs)).toEqual([1, 1200]);
  });

  it('shows the tasks within a task right below it', () => {
    const { model, see } = modelOf({ each: { run: 'true', 'for-each': [1, 2] }, last: { run: 'true' } });
    see(1, { type: 'task.expanded', task: 'each', kind: 'for-each', items: [1, 2] });
    const { rows } = model.rows(10, 1);
    expect(rows.map(({ id, depth }) => [id, depth])).toEqual([['each', 0], ['each.1', 1], ['each.2', 1], ['last', 0]]); // prettier-ignore
  });

  it('keeps what runs, asks and failed in sight where there are more tasks than rows', () => {
    const { model, see } = modelOf({ ...many, ask: { approve: 'Go on?' } });
    see(1, { type: 'question.asked', id: 'ask', task: 'ask', text: 'Go on?', default: 'no' });
    see(1, started('task-0'), ...ended('task-0'), started('task-500'), started('task-900'));
    see(2, {
      type: 'attempt.finished',
      task: 'task-900',
      attempt: 1,
      outcome: { kind: 'failed', reason: 'exit', message: 'no' },
      durationMs: 1,
    });
    see(2, {
      type: 'task.finished',
      task: 'task-900',
      outcome: { kind: 'failed', reason: 'exit', message: 'no' },
    });
    const { rows, leftCount } = model.rows(5, 10);
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(['ask', 'task-500', 'task-900']));
    expect([rows.length, leftCount]).toEqual([5, 996]);
    const text = frame(model, { rows: 20 }).join('\n');
    expect(text).toContain('… 988 more: ');
    expect(text).toContain('[y]es [n]o');
  });

  it.each([
    [100, 30],
    [40, 20],
    [30, 8],
    [24, 4],
  ])('fits a terminal of %i columns and %i rows', (columns, rows) => {
    const { model, see } = modelOf({
      ...many,
      ask: { approve: 'Go on, and on, and on, until this line is far too long to fit?' },
    });
    see(1, { type: 'question.asked', id: 'ask', task: 'ask', text: 'Go on, '.repeat(30), default: 'no' });
    see(1, started('task-0'), printed('task-0', '漢字'.repeat(200)));
    const lines = frame(model, { columns, rows, nowMs: 4_000_000 });
    expect(lines.length).toBeLessThan(rows);
    expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([]);
  });

  it('lets nothing through that a terminal would act on', () => {
    const { model, see } = modelOf({ one: { run: 'true' } });
    see(1, started('one'), printed('one', 'a\u001b[2Jb\u0007\u202ec'));
    expect(frame(model).join('\n')).toContain('ab\\x07\\u{202e}c');
  });

  it('sets off what whoever asks made look like choices and keys of ours, which are below', () => {
    const { model, see } = modelOf({ ask: { approve: 'Go on?' } });
    const text = `Delete it? ${'really '.repeat(12)}\n  [1] no  [y]es keeps it`;
    see(1, { type: 'question.asked', id: 'ask', task: 'ask', text, default: null });
    const lines = frame(model, { columns: 60 });
    const at = lines.findIndex((line) => line.startsWith('? ask: Delete it?'));
    const end = lines.findIndex((line) => line.startsWith('  [y]es [n]o'));
    expect(end).toBeGreaterThan(at + 1);
    for (const line of lines.slice(at + 1, end)) expect(line).toMatch(/^ {2}\| /);
    see(2, { type: 'question.answered', id: 'ask', answer: 'no', by: 'anna' });
    see(3, { type: 'question.asked', id: 'ask', task: 'ask', text: 'Sure? [n]o deletes it', default: null });
    expect(frame(model)).toContain('? ask: Sure? [n]o deletes it'); // ours is not in the same line
  });

  it('lists the choices of a question with what they mean, and the keys that choose', () => {
    const { model, see } = modelOf({ ask: { approve: 'Go on?' } });
    const choices = [{ label: 'Postgres' }, { label: 'SQLite', about: 'one \u001b[2Jfile' }];
    const asked = { type: 'question.asked', id: 'ask', task: 'ask', text: 'Which?', default: null } as const;
    see(1, { ...asked, choices, freeText: true, timeoutMs: 60_000 });
    expect(frame(model, { nowMs: 1 }).slice(-5)).toEqual([
      '? ask: Which?',
      '  [1] Postgres',
      '  [2] SQLite  one file',
      '  1–2 chooses · a types an answer · else no answer in 1m00s',
      expect.stringContaining('Ctrl-C'),
    ]);
    const marked = frame(model, { marked: new Set(['SQLite']) }).join('\n');
    expect(marked).toContain('[2✓] SQLite');
    const typing = frame(model, { typing: { prompt: 'your answer', text: 'use\u0007 zod' } });
    expect(typing.at(-1)).toBe('your answer: use\\x07 zod▏ enter sends · esc leaves');
  });

  it.each([
    [100, 30],
    [30, 12],
    [24, 6],
  ])('fits a question with fifty choices into %i columns and %i rows', (columns, rows) => {
    const { model, see } = modelOf({ ...many, ask: { approve: 'Go on?' } });
    const choices = Array.from({ length: 50 }, (_, n) => ({
      label: `choice 漢字 ${n}`,
      about: 'x'.repeat(500),
    }));
    see(1, { type: 'question.asked', id: 'ask', task: 'ask', text: 'Which?', default: null, choices });
    const lines = frame(model, { columns, rows });
    expect(lines.length).toBeLessThan(rows);
    expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([]);
    expect(lines.join('\n')).toContain('[1]');
  });

  it('says how to answer where no keys are read', () => {
    const { model, see } = modelOf({ ask: { approve: 'Go on?' } });
    see(1, { type: 'question.asked', id: 'ask', task: 'ask', text: 'Go on?', default: 'no' });
    expect(frame(model, { hasKeys: false }).join('\n')).toContain('bosun answer ask yes|no --run w-1');
    see(2, { type: 'question.answered', id: 'ask', answer: 'yes', by: 'person' });
    expect(model.questionFor()).toBeUndefined();
  });

  it('shows the question of the task that is selected, or of one within it, else the oldest', () => {
    const { model, see } = modelOf({
      first: { approve: 'One?' },
      each: { approve: 'Two?', 'for-each': ['a', 'b'] },
      other: { run: 'true' },
    });
    see(1, { type: 'task.expanded', task: 'each', kind: 'for-each', items: ['a', 'b'] });
    see(1, { type: 'question.asked', id: 'first', task: 'first', text: 'One?', default: 'no' });
    see(1, { type: 'question.asked', id: 'each.2', task: 'each.2', text: 'Two?', default: 'no' });
    const asked = (selected?: string): string | undefined =>
      frame(model, { selected }).find((line) => /^\? \S+: /.test(line));
    expect(asked()).toContain('? first: One?  [y]es [n]o · 1 more: ↑↓ selects a task');
    expect(asked('other')).toContain('? first: One?');
    expect(asked('each')).toContain('? each[b]: Two?');
    expect(asked('each.2')).toContain('? each[b]: Two?');
    see(2, { type: 'question.answered', id: 'each.2', answer: 'yes', by: 'anna' });
    expect(asked('each.2')).toBe('? first: One?  [y]es [n]o');
    expect(frame(model, { notice: 'note' }).slice(-3, -1)).toEqual([
      'answered each[b]: yes, by anna (Two?)',
      'note',
    ]);
    expect(frame(model, { nowMs: 60_000 }).join('\n')).not.toContain('answered');
  });
});
