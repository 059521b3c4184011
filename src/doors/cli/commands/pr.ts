/** `bosun pr` */
import { safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { mayPrompt, writeError, writeOut } from '../output.ts';
import { untilStopped } from '../until-stopped.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'feedback')) {
    const input = inputOf('prFeedback', typed);
    return watch(typed, (seen) => ask('prFeedback', input, { seen }));
  }
  const made = await untilStopped((signal) =>
    ask('pr', inputOf('pr', typed), { signal, mayPrompt: mayPrompt() }),
  );
  if (isOn(typed, 'json')) {
    writeOut(`${safeJson(made)}\n`);
    return 0;
  }
  const { run: id, branch, kind, url, note } = made;
  writeOut(`${url}\n`);
  writeError(
    kind === 'opened'
      ? `opened a pull request of run ${id}\n`
      : kind === 'updated'
        ? `updated the open pull request of ${branch} with run ${id}\n`
        : `pushed run ${id} as ${branch}; open the pull request there${note === undefined ? '' : ` (${note})`}\n`,
  );
  return 0;
}
