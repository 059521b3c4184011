import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DoneOutput } from '../src/attempt/done-output.ts';
import type { Json } from '../src/contract/workflow.ts';
import { ProgressTeller } from '../src/attempt/progress.ts';

describe('how far an agent is', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('is told at once, then no more often than each second, and the latest counts', async () => {
    const told: unknown[] = [];
    using progress = new ProgressTeller((each) => told.push(each));
    expect(await progress.report({ text: 'a\u001b[2J\nb', percent: 3.4 })).toEqual({ recorded: true });
    expect(told).toEqual([{ text: 'a [2J b', percent: 3 }]);
    for (let n = 0; n < 10_000; n++) await progress.report({ text: `step ${n}` });
    expect(told).toHaveLength(1);
    vi.advanceTimersByTime(1000);
    expect(told.slice(1)).toEqual([{ text: 'step 9999' }]);
  });

  it('is told at the end where it waited', async () => {
    const told: unknown[] = [];
    {
      using progress = new ProgressTeller((each) => told.push(each));
      await progress.report({ text: 'first' });
      await progress.report({ text: 'last' });
    }
    expect(told).toEqual([{ text: 'first' }, { text: 'last' }]);
  });
});

describe('an output that is given before the end', () => {
  const schema = {
    type: 'object',
    properties: { verdict: { enum: ['accept', 'reject'] } },
    required: ['verdict'],
  };

  it('is checked at once, and the last one that fits counts', async () => {
    const given: Json[] = [];
    const done = new DoneOutput(schema, async (output) => void given.push(output));
    expect(await done.give({ output: { verdict: 'accept' } })).toEqual({ accepted: true });
    expect(await done.give({ output: { verdict: 'perhaps' } })).toEqual({
      accepted: false,
      why: expect.stringContaining('verdict'),
    });
    await done.give({ output: '{"verdict":"reject"}' });
    expect(given).toEqual([{ verdict: 'accept' }, { verdict: 'reject' }]);
  });

  it('may be anything where nothing is asked for', async () => {
    const given: Json[] = [];
    const done = new DoneOutput(undefined, async (output) => void given.push(output));
    await done.give({ output: '{"a":1}' });
    await done.give({ output: null });
    expect(given).toEqual(['{"a":1}', null]);
  });

  it(
    'that takes long to check delays nobody else, and is not checked for ever',
    { timeout: 60_000 },
    async () => {
      const slow = { type: 'string', pattern: '^(a+)+$' };
      const hostile = new DoneOutput(slow, async () => {});
      const given = Array.from({ length: 16 }, () => hostile.give({ output: `${'a'.repeat(40)}!` }));
      const other = new DoneOutput(schema, async () => {});
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const beganMs = performance.now();
      expect(await other.give({ output: { verdict: 'accept' } })).toEqual({ accepted: true });
      expect(performance.now() - beganMs).toBeLessThan(8000); // in one line with the others it would take ten more seconds
      const why = (await Promise.all(given)).map((answer) => answer.why ?? '');
      expect(why[0]).toContain('it took more than 3 seconds');
      expect(why.at(-1)).toContain('took more than 10 seconds in all');
      expect(why.filter((each) => each.includes('it took more'))).toHaveLength(4);
    },
  );

  it('is refused after the hundredth', async () => {
    let count = 0;
    const done = new DoneOutput(undefined, async () => void count++);
    for (let n = 0; n < 100; n++) await done.give({ output: n });
    await expect(done.give({ output: 'more' })).rejects.toThrow('you have given 100 outputs');
    expect(count).toBe(100);
  });
});
