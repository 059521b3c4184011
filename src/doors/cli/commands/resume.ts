/** `bosun resume`: what is paused goes on where it is driven; what nobody drives is driven here. */
import { shellWord } from '../../../base/shell-word.ts';
import type { Unpaused } from '../../../contract/outputs.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, optionText, type Typed } from '../command.ts';
import { isApart } from '../../apart.ts';
import { tellDetached } from '../detach.ts';
import { writeError, writeOut } from '../output.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const name = given('name', typed.args[0]);
  const unpaused = await ask('unpause', inputOf('unpause', typed, name));
  if (!unpaused.isContinued) {
    const input = inputOf('resume', typed, given('run', typed.args[0] ?? optionText(typed, 'run')));
    return watch(typed, (seen) => ask('resume', input, { seen }), { earlier: input });
  }
  if (isOn(typed, 'json')) writeOut(`${safeJson(unpaused)}\n`);
  else if (!isOn(typed, 'detach') || unpaused.isStillPaused) writeError(`${tell(unpaused)}\n`);
  if (isApart) tellDetached(unpaused.run); // it was started to drive the run, which is driven already
  return 0;
}

function tell({ run, task, isStillPaused, pausedWith }: Unpaused): string {
  if (!isStillPaused)
    return `${task === undefined ? `run ${run}` : `task ${task} of run ${run}`} continues: bosun attach ${run}`;
  const [around, what] =
    pausedWith === undefined ? [`run ${run}`, run] : [pausedWith, `${shellWord(pausedWith)} --run ${run}`];
  return `task ${task} is not paused by itself any more, but ${around} is: bosun resume ${what}`;
}
