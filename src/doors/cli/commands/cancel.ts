/** `bosun cancel` */
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { writeError } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const { id, state } = await ask('cancel', inputOf('cancel', typed), {
    waits: (text) => writeError(`${text}\n`),
  });
  const isCancelled = state === 'cancelled';
  writeError(
    isCancelled
      ? `run ${id} is cancelled, its work is kept; continue with: bosun resume ${id}\n`
      : `run ${id} ended before it could be cancelled: it is ${state}\n`,
  );
  return 0;
}
