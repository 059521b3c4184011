/**
 * LangGraph.js with its SqliteSaver (a file; WAL, and SQLite's default synchronous=FULL) and `durability:
 * 'sync'`: what was done is stored before the next step starts, its strictest setting.
 *
 * Its functional API, a `task` per step within one `entrypoint`. Tried against its graph API (a node per step, a
 * `Send` per step): quicker for the chain, no clear difference for the fan-out. The fan-out is bounded to 8 in the
 * entrypoint. The result of each task is stored as it ends.
 */
import { join } from 'node:path';
import { entrypoint, task } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { bounded, measure, step, timed } from './step.js';

await measure((directory) => {
  const checkpointer = SqliteSaver.fromConnString(join(directory, 'langgraph.db'));
  const durable = task('step', async (index) => {
    await step();
    return index;
  });
  const chain = entrypoint({ name: 'chain', checkpointer }, async (count) => {
    for (let index = 0; index < count; index += 1) await durable(index);
    return count;
  });
  const fanOut = entrypoint({ name: 'fan-out', checkpointer }, async (count) => {
    await bounded(count, (index) => durable(index));
    return count;
  });

  return async (shape, count) => {
    const thread = `${shape}-${count}`;
    const wallMs = await timed(() =>
      (shape === 'chain' ? chain : fanOut).invoke(count, {
        configurable: { thread_id: thread },
        durability: 'sync',
      }),
    );
    const { stored } = checkpointer.db
      .prepare("SELECT count(*) AS stored FROM writes WHERE thread_id = ? AND channel = '__return__'")
      .get(thread);
    if (stored < count) throw new Error(`langgraph stored ${stored} results of ${count}`);
    return wallMs;
  };
});
