/** Pausing a task at the moment at which it ends. */
import { expect, it } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { askToPause } from '../src/operations/pause.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import { openEngine } from '../src/run/open-engine.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { runView, taskView } from '../src/schedule/views/view.ts';
import { makeRepository } from './fixtures/repository.ts';

it('a task that ends before its engine hears of the pause is said to have ended', async () => {
  await using repository = await makeRepository();
  await using engine = await openEngine(repository.path);
  const { store } = engine;
  const checked = workflow({ name: 'w', tasks: { work: { run: 'true' }, other: { run: 'true' } } });
  const base = await repository.git('rev-parse', 'HEAD');
  const run = { workflow: checked, source: 'test', inputs: {}, base, dirty: false };
  const { id, claim } = await createRun(store, run, 1);
  using _ = claim;
  const { state, lastSeq } = await loadRun(store, id);
  const began = performance.now();
  const pausing = askToPause({ cwd: repository.path, by: 'anna', run: id, name: 'work' });
  await expect.poll(() => store.requests(id)).toHaveLength(1);
  const event: Event = { type: 'task.finished', task: 'work', outcome: { kind: 'done' } };
  apply(state, event, 2);
  await store.append(id, lastSeq, {
    entries: [{ atMs: 2, event }],
    values: [],
    run: runView(state),
    tasks: [taskView(state.nodes.get('work')!)],
    handled: (await store.requests(id)).map((request) => request.id),
  });
  await expect(pausing).rejects.toThrow(`task work of run ${id} is done: there is nothing to pause`);
  expect(performance.now() - began).toBeLessThan(4000);
});
