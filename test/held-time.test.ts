/** How much time an agent gets back for waiting: only that in which it did nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HeldTime } from '../src/attempt/held-time.ts';

const MS = 200;
/** What timers of a busy machine are late or early. */
const SLACK_MS = 20;

describe('time that an attempt is given back', () => {
  it('is that in which it waits for a person', async () => {
    const held = new HeldTime(() => 0);
    await held.ask(sleep(MS));
    expect(held.elapsedMs).toBeGreaterThan(MS - SLACK_MS);
    const then = held.elapsedMs;
    await sleep(50);
    expect(held.elapsedMs).toBe(then);
  });

  it('is none where its processes used the processor meanwhile', async () => {
    const held = new HeldTime(() => 2 * performance.now());
    const asked = held.ask(sleep(MS));
    await sleep(MS / 2);
    expect(held.elapsedMs).toBe(0);
    await asked;
    expect(held.elapsedMs).toBe(0);
  });

  it('is none while it uses a model, however many questions are open', async () => {
    const held = new HeldTime(() => 0);
    const asked = [held.ask(sleep(2 * MS)), held.ask(sleep(2 * MS))];
    const ended = held.request();
    await sleep(MS);
    expect(held.elapsedMs).toBeLessThan(SLACK_MS);
    ended();
    const endedAtMs = performance.now();
    await Promise.all(asked);
    const idleMs = performance.now() - endedAtMs; // a busy machine is late with either of them
    expect(Math.abs(held.elapsedMs - idleMs)).toBeLessThan(SLACK_MS);
  });

  it('is none where nobody can see what it does', async () => {
    const held = new HeldTime(() => undefined);
    await held.ask(sleep(MS / 4));
    expect(held.elapsedMs).toBe(0);
  });

  it('has an end for all questions together', async () => {
    const held = new HeldTime(() => 0, MS / 2);
    for (let n = 0; n < 4; n++) await held.ask(sleep(MS / 4));
    expect(held.elapsedMs).toBe(MS / 2);
  });

  it('is all of that in which bosun holds it back', async () => {
    const held = new HeldTime(() => 2 * performance.now(), 0);
    await held.holdBack(sleep(MS));
    expect(held.elapsedMs).toBeGreaterThan(MS - SLACK_MS);
  });
});
