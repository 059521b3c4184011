/** Items of a for-each go by their values wherever people read or type a name; their ids stay as they are. */
import { expect, test } from 'vitest';
import { Bosun } from '../src/doors/library.ts';
import { workflow } from '../src/definition/builder.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { renderFrame } from '../src/doors/cli/live/frame.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { logs } from '../src/operations/logs.ts';
import { budgetsOf, setBudget } from '../src/operations/budget.ts';
import { renderHtml } from '../src/report/html/html.ts';
import { renderTextReport } from '../src/report/text/text.ts';
import type { Recorded } from '../src/contract/event.ts';
import { itemNames, TaskNames } from '../src/schedule/views/task-names.ts';
import { makeRepository } from './fixtures/repository.ts';

test('an item is named by its value, where that is short, harmless and its own', () => {
  const names = (...items: Parameters<typeof itemNames>[1]): string[] => itemNames('x', items);
  expect(names('security', 7, { name: 'a', id: 'b' }, { id: 3 }, { title: 'T' })).toEqual(
    'x[security] x[7] x[a] x[3] x[T]'.split(' '),
  );
  expect(names(null, true, [1], {}, '', ' \n', { name: { a: 1 } })).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((n) => `x.${n}`),
  );
  expect(names('same', 'same', 'other')).toEqual(['x.1', 'x.2', 'x[other]']);
  expect(names('\u001b[31mred\u202e\u0007', 'a]/b[c', ' two\n words ')).toEqual([
    'x[31mred]',
    'x[a/bc]',
    'x[two words]',
  ]);
  const long = 'é'.repeat(1000);
  expect(names(long, '1')[0]).toBe(`x[${'é'.repeat(39)}…]`);
  expect(names(`${long}1`, `${long}2`)).toEqual(['x.1', 'x.2']);
});

test('what is within an item starts with its name', () => {
  const names = new TaskNames();
  names.add({ type: 'task.expanded', task: 'a/b', kind: 'for-each', items: ['one', ''] });
  names.add({ type: 'task.expanded', task: 'a/b.1/c', kind: 'for-each', items: ['two', null] });
  expect(
    ['a/b', 'a/b.1', 'a/b.2', 'a/b.1/c', 'a/b.1/c.1/d', 'a/b.1/c.2', 'a/b.11'].map((id) => names.of(id)),
  ).toEqual(['a/b', 'a/b[one]', 'a/b.2', 'a/b[one]/c', 'a/b[one]/c[two]/d', 'a/b[one]/c.2', 'a/b.11']);
});

test('people see and type review[security], and the journal keeps review.1', async () => {
  await using repository = await makeRepository();
  const at = repository.path;
  const seen: Recorded[] = [];
  const model = new LiveModel();
  const frames: string[] = [];
  const paint = (_: string, text: string): string => text;
  const bosun = new Bosun(at);
  const options = {
    seen: (recorded: readonly Recorded[]) => {
      seen.push(...recorded);
      model.see(recorded);
      const frame = { columns: 100, rows: 40, nowMs: Date.now(), paint, hasKeys: true, notice: '' };
      frames.push(renderFrame(model, frame).join('\n'));
    },
  };
  const run = await bosun.run(
    workflow({
      name: 'x',
      'on-failure': 'continue',
      tasks: {
        review: {
          'for-each': ['security', 'speed'],
          run: 'echo ${{ each }} > ${{ each }}.txt; test ${{ each }} = security',
        },
        ship: { 'for-each': [{ name: 'prod' }], approve: 'Ship it?' },
      },
    }),
    options,
  );
  await expect.poll(() => frames.at(-1)).toContain('? ship[prod]: Ship it?');
  expect((await bosun.status()).run.questions).toMatchObject([{ id: 'ship.1', label: 'ship[prod]' }]);
  await bosun.answer('yes', 'ship[prod]');
  await run.finished;

  expect(new Set(seen.flatMap(({ event }) => ('task' in event ? [event.task] : [])))).toEqual(
    new Set(['review', 'review.1', 'review.2', 'ship', 'ship.1']),
  );
  expect(frames.some((frame) => frame.includes('review[security]'))).toBe(true);
  const { tasks } = await bosun.status();
  expect(tasks.map(({ id, label }) => label ?? id)).toEqual(
    'review review[security] review[speed] ship ship[prod]'.split(' '),
  );
  const lines = new EventLines({ paint, withOutput: true });
  expect(seen.map((recorded) => lines.render(recorded)).join('')).toMatch(/review\[speed\] +failed/);
  const report = await bosun.report();
  expect(report.tasks.find(({ id }) => id === 'review.2')!.label).toBe('review[speed]');
  expect(renderTextReport(report, { color: false, width: 100 })).toMatch(/Failed\n +. review\[speed\]/);
  expect(renderHtml(report)).toContain('<b>review[security]</b>');

  const { files } = await bosun.diff(undefined, 'review[security]');
  expect(files.map(({ path }) => path)).toEqual(['security.txt']);
  const labels = new Map(tasks.map(({ id, label = id }) => [id, label]));
  const own = new EventLines({ paint, withOutput: true, labels });
  let log = '';
  for await (const page of logs({ cwd: at, task: 'review[speed]' }))
    log += page.map((recorded) => own.render(recorded)).join('');
  expect(log).toContain('review[speed]');
  expect(log).not.toContain('security');
  await expect(bosun.diff(undefined, 'review[spede]')).rejects.toThrow('did you mean review[speed]?');
  await setBudget({ cwd: at, by: 'anna', task: 'review[speed]', usd: 1 });
  const { accounts } = await budgetsOf({ cwd: at });
  expect(accounts.map(({ account }) => account)).toContain('task:review.2');
  await (
    await bosun.retry('review[speed]', undefined, options)
  ).finished;
  expect(seen.filter(({ event }) => event.type === 'task.retried' && event.task === 'review.2')).toHaveLength(
    1,
  );
});
