/** The lines of a log: in the order of their numbers, however they come, and quickly. */
import { describe, expect, it } from 'vitest';
import { LogItems } from '../../web/task/log/log-items.ts';

const COMMON = { atMs: 0, attempt: 1 };
const print = (items: LogItems, seq: number): void =>
  items.print({ ...COMMON, seq, stream: 'stdout', text: `line ${seq}\n` });
const note = (items: LogItems, seq: number): void =>
  items.add({ ...COMMON, kind: 'note', seq, text: `note ${seq}`, tone: '' });
const seqs = (items: LogItems): number[] => items.items.map(({ seq }) => seq);

describe('the items of a log', () => {
  it('stand in their order, whichever way they came, and tell from where on they are new', () => {
    const items = new LogItems();
    for (const seq of [2, 4, 6]) note(items, seq);
    items.settle();
    expect(items.takeChanged()).toBe(0);
    for (const seq of [3, 5, 7]) print(items, seq);
    note(items, 8);
    items.settle();
    expect(seqs(items)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(items.takeChanged()).toBe(1);
    items.touch(items.items[4]!);
    expect(items.takeChanged()).toBe(4);
    items.settle();
    expect(items.takeChanged()).toBe(Infinity);
  });

  it('keep what was said and done at one moment in the order in which it was told', () => {
    const items = new LogItems();
    note(items, 1);
    note(items, 3);
    items.settle();
    for (const text of ['a', 'b']) items.add({ ...COMMON, kind: 'note', seq: 2, text, tone: '' });
    items.settle();
    expect(items.items.map((item) => 'text' in item && item.text)).toEqual(['note 1', 'a', 'b', 'note 3']);
  });

  it('are merged in a moment, also 40,000 of each', () => {
    const items = new LogItems();
    for (let n = 0; n < 40_000; n++) note(items, 2 * n);
    items.settle();
    for (let n = 0; n < 40_000; n++) print(items, 2 * n + 1);
    const begun = process.cpuUsage();
    items.settle();
    const { user, system } = process.cpuUsage(begun);
    expect(user + system, 'microseconds').toBeLessThan(800_000); // 2.2 s, line by line
    expect(seqs(items)).toEqual(Array.from({ length: 80_000 }, (_, n) => n));
  });

  it('are no more than a limit, whatever they are', () => {
    const items = new LogItems();
    for (let n = 0; n < 260_000; n++) note(items, n);
    items.settle();
    expect(items.items.length).toBeLessThanOrEqual(250_000);
    expect(items.items.length + items.leftOut).toBe(260_000);
  });
});
