/** An agent's program that prints without end: others have their turn meanwhile, and what is only a flood is ended. */
import { PassThrough, Readable } from 'node:stream';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readMessages } from '../src/runtime/agent/lines.ts';
import { MessageStream } from '../src/runtime/agent/message-stream.ts';
import { acp } from '../src/runtime/acp/acp.ts';
import { BareLauncher } from '../src/sandbox/none.ts';
import { Bench } from './fixtures/runtime-job.ts';

const COUNT = 10_000;
const A_TURN_MAX = 32;
const all = Buffer.from('{}\n'.repeat(COUNT));

/** Counts what is heard in each turn of the loop. */
function turns(): { heard(): void; counts: number[] } {
  const counts: number[] = [];
  let isSame = false;
  return {
    counts,
    heard() {
      if (!isSame) {
        counts.push(0);
        isSame = true;
        void setImmediate().then(() => (isSame = false));
      }
      counts[counts.length - 1]!++;
    },
  };
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

describe('what an agent prints', () => {
  it('is heard to its end, also where it takes longer than its program lives', async () => {
    const count = 2000;
    const argv = ['/bin/sh', '-c', `yes '{"text":"${'x'.repeat(100)}"}' | head -n ${count}`];
    const env = { PATH: process.env.PATH! };
    const running = new BareLauncher().launch({ argv, cwd: '/', env });
    let heard = 0;
    const take = (): void => {
      heard++;
      for (const untilMs = performance.now() + 1; performance.now() < untilMs;); // the engine has other work
    };
    const read = readMessages(running.stdout, { take });
    expect(await running.exited).toEqual({ code: 0, signal: null });
    await read;
    expect(heard).toBe(count);
  });

  it('is handed on some messages at a time, to those who are talked with', async () => {
    const [stdout, { heard, counts }] = [new PassThrough(), turns()];
    const messages = new MessageStream(() => {}, new PassThrough());
    messages.on('data', heard);
    messages.readFrom(stdout);
    stdout.end(all);
    await expect.poll(() => sum(counts), { timeout: 20_000 }).toBe(COUNT);
    expect(Math.max(...counts)).toBeLessThanOrEqual(A_TURN_MAX);
  });

  it('is handed on some messages at a time, to those who only read', async () => {
    const { heard, counts } = turns();
    await readMessages(Readable.from([all]), { take: heard });
    expect(sum(counts)).toBe(COUNT);
    expect(Math.max(...counts)).toBeLessThanOrEqual(A_TURN_MAX);
  });

  it('is not heard while it does not read its answers', async () => {
    const [stdout, answers] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
    answers.write('an answer');
    let count = 0;
    const messages = new MessageStream(() => {}, answers);
    messages.on('data', () => count++);
    messages.readFrom(stdout);
    stdout.end(all);
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    expect(count).toBeLessThanOrEqual(A_TURN_MAX);
    answers.resume();
    await expect.poll(() => count, { timeout: 20_000 }).toBe(COUNT);
  });

  it('ends it once, where it is no message, and the rest is not read', async () => {
    const stdout = new PassThrough();
    const reasons: string[] = [];
    const messages = new MessageStream((why) => reasons.push(why), new PassThrough());
    messages.resume();
    messages.readFrom(stdout);
    stdout.end(Buffer.from('1\n'.repeat(COUNT)));
    await new Promise((resolve) => messages.once('end', resolve));
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatch(/^it printed something that is not a message of its protocol: 1\n/);
  });

  it('is told once, where those who only read hear nothing else', async () => {
    const said: string[] = [];
    const onGarbage = (text: string): void => void said.push(text);
    const read = (text: string): Promise<string> =>
      readMessages(Readable.from([Buffer.from(text)]), { take() {}, onGarbage });
    await read(`${'noise\n'.repeat(900)}{}\n`.repeat(3));
    expect(said).toEqual([]);
    await read('noise\n'.repeat(COUNT));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/noise$/);
  });
});

it('ends an agent that asks without end and waits for no answer', async () => {
  await using bench = new Bench();
  const command = [process.execPath, path.resolve('test/fixtures/acp-agent-program.ts')];
  let asked = 0;
  const ask = (): Promise<never> => {
    asked += 1;
    return new Promise(() => {});
  };
  const { job } = bench.job('http://127.0.0.1:9', { runtime: 'acp', command }, { prompt: 'pesters', ask });
  const { outcome } = await acp.run(job);
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'agent' });
  expect(outcome).toHaveProperty('message', expect.stringMatching(/asked more than 64 questions at once/));
  expect(asked).toBe(64);
});
