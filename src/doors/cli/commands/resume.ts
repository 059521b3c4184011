/** `bosun resume`: what is paused goes on where it is driven; what nobody drives is driven here. */
import { shellWord } from '../../../base/shell-word.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const name = given('name', typed.args[0]);
  const unpaused = await ask('unpause', inputOf('unpause', typed, name));
  if (!unpaused.isContinued) {
    const input = inputOf('resume', typed, given('run', typed.args[0] ?? textOf(typed, 'run')));
    return watch(typed, (seen) => ask('resume', input, { seen }), { earlier: input });
  }
  const { run: id, task, isStillPaused, pausedWith } = unpaused;
  if (isOn(typed, 'json')) writeOut(`${safeJson(unpaused)}\n`);
  else if (isOn(typed, 'detach')) writeOut(`${id}\n`);
  else if (isStillPaused) {
    const [around, what] =
      pausedWith === undefined ? [`run ${id}`, id] : [pausedWith, `${shellWord(pausedWith)} --run ${id}`];
    writeError(`task ${task} is not paused by itself any more, but ${around} is: bosun resume ${what}\n`);
  } else
    writeError(
      `${task === undefined ? `run ${id}` : `task ${task} of run ${id}`} continues: bosun attach ${id}\n`,
    );
  return 0;
}
