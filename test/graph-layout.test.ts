/** Where the boxes of a graph stand, and which tasks share one. */
import { expect, it } from 'vitest';
import { BOXES_MAX, foldTasks, type Foldable } from '../src/report/graph/folds.ts';
import { layOut, pathOf, type Item } from '../src/report/graph/layout.ts';

const SIZE = { width: 100, height: 40 };

function item(id: string, ...needs: string[]): Item {
  return { id, ...SIZE, needs };
}

function task(id: string, ...needs: string[]): Foldable {
  return { id, label: id, parent: null, needs };
}

it('places each box after what it needs, and none over another', () => {
  const items = [
    item('ship', 'build', 'lint'),
    item('build', 'plan'),
    item('lint'),
    item('plan'),
    item('late', 'plan', 'ship'),
  ];
  const { at, lines, width, height } = layOut(items);
  for (const { id, needs } of items)
    for (const need of needs) expect(at.get(id)!.x).toBeGreaterThan(at.get(need)!.x + SIZE.width);
  const boxes = [...at.values()];
  for (const [n, a] of boxes.entries())
    for (const b of boxes.slice(n + 1))
      expect(Math.abs(a.x - b.x) >= SIZE.width || Math.abs(a.y - b.y) >= SIZE.height).toBe(true);
  expect(Math.max(...boxes.map(({ x }) => x)) + SIZE.width).toBe(width);
  expect(Math.max(...boxes.map(({ y }) => y)) + SIZE.height).toBeLessThanOrEqual(height);
  const long = lines.find(({ from, to }) => from === 'plan' && to === 'late')!;
  expect(long.stops).toHaveLength(4);
  expect(pathOf(long)).toMatch(/^M100 .*C.*C.*C/);
});

it('lays out a chain of 10,000 that is written last task first', () => {
  const items = Array.from({ length: 10_000 }, (_, n) => item(`t${n}`, `t${n + 1}`));
  const { at } = layOut(items);
  expect(at.get('t0')!.x).toBeGreaterThan(at.get('t9999')!.x);
});

it('draws lines over thousands of layers without a place in each', () => {
  const chain = Array.from({ length: 2000 }, (_, n) =>
    item(`t${n}`, ...(n === 0 ? [] : [`t${n - 1}`, 't0'])),
  );
  const { lines } = layOut(chain);
  const stops = lines.reduce((sum, line) => sum + line.stops.length, 0);
  expect(stops).toBeLessThan(5 * chain.length);
});

it('survives needs that form a circle, and needs that are not there', () => {
  const { at } = layOut([item('a', 'b'), item('b', 'a'), item('c', 'nobody')]);
  expect([...at.keys()]).toEqual(['a', 'b', 'c']);
});

it('folds what is within groups first, then tasks that are alike, then layers, and says so', () => {
  const group = [
    task('each'),
    ...Array.from({ length: 300 }, (_, n) => ({ ...task(`each.${n}`), parent: 'each' })),
  ];
  expect(foldTasks(group).folds.map(({ id }) => id)).toEqual(['each']);

  const fan = [task('plan'), ...Array.from({ length: 300 }, (_, n) => task(`t${n}`, 'plan'))];
  const alike = foldTasks(fan);
  expect(alike.folds.map(({ label }) => label)).toEqual(['plan', 't0 + 299']);
  expect(alike.folds[1]).toMatchObject({ needs: ['plan'], members: fan.slice(1).map(({ id }) => id) });
  expect(alike.note).toContain('301 tasks');

  const chain = Array.from({ length: 300 }, (_, n) => task(`t${n}`, ...(n === 0 ? [] : [`t${n - 1}`])));
  const cut = foldTasks(chain);
  expect(cut.folds).toHaveLength(BOXES_MAX);
  expect(cut).toMatchObject({ isCut: true, note: expect.stringContaining('first 200 layers') });
});
