/** A task leaves nothing behind in the engine: no descriptor, no timer, no listener. */
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { heldResources, type HeldResources } from './fixtures/held-resources.ts';
import { makeRepository } from './fixtures/repository.ts';

test('an engine holds as much after fifty tasks as after five', { timeout: 60_000 }, async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const runTasks = async (count: number): Promise<HeldResources> => {
    const tasks = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `task-${n}`,
        { run: 'echo here', check: 'true', scope: { write: [`d${n}/**`], network: ['example.com'] } },
      ]),
    );
    const run = await bosun.run(workflow({ name: 'many', concurrency: 8, tasks }));
    expect((await run.finished).state).toBe('done');
    return heldResources();
  };
  const few = await runTasks(5);
  const many = await runTasks(50);
  expect(many.descriptors).toBeLessThanOrEqual(few.descriptors);
  expect(many.listeners).toBeLessThanOrEqual(few.listeners);
  // A timer that was about to end may be counted with the few.
  for (const [kind, count] of Object.entries(many.resources))
    expect(count, kind).toBeLessThanOrEqual(few.resources[kind] ?? 0);
});
