/**
 * OpenWorkflow on its SQLite backend (a file; WAL, and SQLite's default synchronous=FULL).
 *
 * One durable `step.run` per step, as its guide shows. Its own concurrency counts whole workflows, so the
 * fan-out is bounded to 8 in the workflow function. Two of its waits are left out in its favour: the run is
 * there before the worker starts (which then polls at once), and the end is taken from the commit of the result
 * and not from the handle, which looks once a second.
 */
import { join } from 'node:path';
import { OpenWorkflow } from 'openworkflow';
import { BackendSqlite } from 'openworkflow/sqlite';
import { bounded, measure, step, timed } from './step.js';

await measure((directory) => {
  const backend = BackendSqlite.connect(join(directory, 'openworkflow.db'));
  const client = new OpenWorkflow({ backend });

  let onEnd;
  for (const method of ['completeWorkflowRun', 'failWorkflowRun']) {
    const original = backend[method].bind(backend);
    backend[method] = async (parameters) => {
      const run = await original(parameters);
      onEnd(method === 'completeWorkflowRun' ? undefined : new Error(JSON.stringify(parameters.error)));
      return run;
    };
  }

  const chain = client.defineWorkflow({ name: 'chain' }, async ({ input, step: durable }) => {
    for (let index = 0; index < input.count; index += 1) await durable.run({ name: `step-${index}` }, step);
    return input.count;
  });
  const fanOut = client.defineWorkflow({ name: 'fan-out' }, async ({ input, step: durable }) => {
    await bounded(input.count, (index) => durable.run({ name: `step-${index}` }, step));
    return input.count;
  });

  return async (shape, count) => {
    const worker = client.newWorker({ concurrency: 1 });
    const wallMs = await timed(async () => {
      const ended = new Promise((resolve, reject) => {
        onEnd = (error) => (error === undefined ? resolve() : reject(error));
      });
      await (shape === 'chain' ? chain : fanOut).run({ count });
      await worker.start();
      await ended;
    });
    await worker.stop();
    return wallMs;
  };
});
