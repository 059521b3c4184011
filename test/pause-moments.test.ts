/** A pause that comes at the worst moment: while an attempt starts, merges, asks; nothing is lost, and nothing starts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Recorded } from '../src/contract/event.ts';
import { Bosun, workflow } from '../src/index.ts';
import { makeRepository } from './fixtures/repository.ts';

const WORK = workflow({
  name: 'work',
  concurrency: 2,
  tasks: {
    one: { run: 'echo 1 > one.txt' },
    two: { run: 'echo 2 > two.txt' },
    three: { needs: ['one', 'two'], run: 'cat one.txt two.txt > three.txt' },
    ship: { needs: ['one'], approve: 'Ship it?' },
    last: { needs: ['ship', 'three'], run: 'echo 4 > last.txt' },
  },
});

it.each(['attempt.started', 'attempt.finished', 'task.merging', 'question.asked'])(
  'a pause at %s starts nothing more, and the run goes on from there to its end',
  async (moment) => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const all: Recorded[] = [];
    const has = (type: string): boolean => all.some(({ event }) => event.type === type);
    let isPaused = false;
    const live = await bosun.run(WORK, {
      seen(events) {
        all.push(...events);
        if (!isPaused && has(moment)) {
          isPaused = true;
          queueMicrotask(() => live.pause());
        }
      },
    });
    await expect.poll(() => has('run.paused') || has('run.finished'), { timeout: 20_000 }).toBe(true);
    const asked = (): string | undefined =>
      all.flatMap(({ event }) => (event.type === 'question.asked' ? [event.id] : []))[0];
    await expect
      .poll(async () => (await bosun.status(live.id)).run.state, { timeout: 20_000 })
      .toMatch(/paused/);
    // what was at work ends, and what it makes possible has time to start
    const count = (type: string): number => all.filter(({ event }) => event.type === type).length;
    await expect
      .poll(() => count('attempt.started') - count('attempt.finished'), { timeout: 20_000 })
      .toBe(0);
    await sleep(300);
    live.unpause();
    await expect.poll(asked, { timeout: 20_000 }).toBeDefined();
    live.answer(asked()!, 'yes');
    expect((await live.finished).state).toBe('done');
    const [from, to] = ['run.paused', 'run.unpaused'].map((type) =>
      all.findIndex(({ event }) => event.type === type),
    );
    const meanwhile = all.slice(from, to).map(({ event }) => event.type);
    expect(meanwhile).not.toContain('attempt.started');
    const started = all.flatMap(({ event }) => (event.type === 'attempt.started' ? [event.task] : []));
    expect(started.toSorted()).toEqual(['last', 'one', 'three', 'two']);
    expect((await bosun.diff(live.id)).files.map(({ path }) => path).toSorted()).toEqual([
      'last.txt',
      'one.txt',
      'three.txt',
      'two.txt',
    ]);
  },
);
