/** `bosun cancel` */
import { cancelRun } from '../../../operations/interrupt.ts';
import { given, isOn, type Typed } from '../command.ts';
import { writeError } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const { id, state } = await cancelRun({
    cwd: process.cwd(),
    now: isOn(typed, 'now'),
    waits: (text) => writeError(`${text}\n`),
    ...given('run', typed.args[0]),
  });
  const isCancelled = state === 'cancelled';
  writeError(
    isCancelled
      ? `run ${id} is cancelled, its work is kept; continue with: bosun resume ${id}\n`
      : `run ${id} ended before it could be cancelled: it is ${state}\n`,
  );
  return 0;
}
