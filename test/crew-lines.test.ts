/** Lines on an agent's socket: many short ones stop nobody else, and who does not read is not heard. */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { holdUntilDrained, readLines } from '../src/crew/lines.ts';

const COUNT = 10_000;

function reading(stream: PassThrough): { heard: string[]; perTurn: number[] } {
  const heard: string[] = [];
  const perTurn: number[] = [];
  let isSame = false;
  readLines(stream, {
    bytesMax: 1024,
    linesATurn: 16,
    onTooLong: () => {},
    onLine: (line) => {
      heard.push(line);
      if (!isSame) {
        perTurn.push(0);
        isSame = true;
        void setImmediate().then(() => (isSame = false));
      }
      perTurn[perTurn.length - 1]!++;
    },
  });
  return { heard, perTurn };
}

describe('lines of an agent', () => {
  it('are heard some at a time, all of them and in order', async () => {
    const stream = new PassThrough({ highWaterMark: 1024 * 1024 });
    const { heard, perTurn } = reading(stream);
    stream.write(Array.from({ length: COUNT }, (_, n) => `${n}\n`).join(''));
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(COUNT);
    expect(heard).toEqual(Array.from({ length: COUNT }, (_, n) => `${n}`));
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(32);
  });

  it('are not heard while its output is full, however many wait; there is one listener for that', async () => {
    const stream = new PassThrough();
    const output = new PassThrough();
    const { heard } = reading(stream);
    for (let n = 0; n < 30; n++) holdUntilDrained(stream, output);
    expect(output.listenerCount('drain')).toBe(1);
    stream.write('one\n'.repeat(40));
    for (let n = 0; n < 20; n++) await setImmediate();
    expect(heard).toHaveLength(0);
    output.emit('drain');
    await expect.poll(() => heard.length).toBe(40);
  });
});
