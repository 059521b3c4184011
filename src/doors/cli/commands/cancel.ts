/** `bosun cancel` */
import { shellWord } from '../../../base/shell-word.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { writeError } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const input = inputOf('cancel', typed);
  const { id, state } = await ask('cancel', input, { waits: (text) => writeError(`${text}\n`) });
  writeError(`${input.task === undefined ? tellRun(id, state) : tellTask(id, input.task)}\n`);
  return 0;
}

function tellRun(id: string, state: string): string {
  return state === 'cancelled'
    ? `run ${id} is cancelled, its work is kept; continue with: bosun resume ${id}`
    : `run ${id} ended before it could be cancelled: it is ${state}`;
}

function tellTask(run: string, task: string): string {
  return `task ${task} of run ${run} is cancelled, its work is kept; try it again with: bosun retry ${shellWord(task)} --run ${run}`;
}
