/** `bosun steer`: says something to an agent that is at work. */
import { BosunError } from '../../../contract/errors.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { writeError } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const [task, ...words] = typed.args;
  const text = words.join(' ').trim();
  if (task === undefined || text === '')
    throw new BosunError('usage', 'name the task and what to tell its agent: bosun steer <task> "<message>"');
  const { run } = await ask('steer', inputOf('steer', typed, { text }));
  writeError(`sent to ${task} (run ${run})\n`);
  return 0;
}
