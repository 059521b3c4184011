/** A task leaves nothing behind in the engine: no descriptor, no timer, no listener. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { heldResources, type HeldResources } from './fixtures/held-resources.ts';
import { makeRepository } from './fixtures/repository.ts';

/** A timer that is about to end belongs to nobody: what is held is what two looks agree on. */
async function settled(): Promise<HeldResources> {
  for (let before = heldResources(); ;) {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const now = heldResources();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

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
    return settled();
  };
  const few = await runTasks(5);
  expect(await runTasks(50)).toEqual(few);
});
