/** A task leaves nothing behind in the engine: no descriptor, no timer, no listener. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { makeRepository } from './fixtures/repository.ts';

interface Held {
  descriptors: number;
  resources: Record<string, number>;
  listeners: number;
}

function held(): Held {
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo().filter((name) => !name.startsWith('FSReq')))
    resources[name] = (resources[name] ?? 0) + 1;
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    resources,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

test('an engine holds as much after fifty tasks as after five', { timeout: 60_000 }, async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const runTasks = async (count: number): Promise<Held> => {
    const tasks = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `task-${n}`,
        { run: 'echo here', check: 'true', scope: { write: [`d${n}/**`], network: ['example.com'] } },
      ]),
    );
    const run = await bosun.run(workflow({ name: 'many', concurrency: 8, tasks }));
    expect((await run.finished).state).toBe('done');
    return held();
  };
  const few = await runTasks(5);
  expect(await runTasks(50)).toEqual(few);
});
