/** `bosun push` */
import { safeJson } from '../../../report/text/plain.ts';
import { shortCommit } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { mayPrompt, writeError, writeOut } from '../output.ts';
import { untilStopped } from '../until-stopped.ts';

export async function run(typed: Typed): Promise<number> {
  const pushed = await untilStopped((signal) =>
    ask('push', inputOf('push', typed), { signal, mayPrompt: mayPrompt() }),
  );
  if (isOn(typed, 'json')) {
    writeOut(`${safeJson(pushed)}\n`);
    return 0;
  }
  const { run: id, remote, branch, commit, kind, link } = pushed;
  writeOut(`${branch}\n`);
  writeError(
    kind === 'nothing'
      ? `${branch} of ${remote} has all of run ${id} already\n`
      : `pushed run ${id} to ${remote}: ${branch} is at ${shortCommit(commit)}\n`,
  );
  if (link !== undefined) writeError(`make a pull request: ${link}\n`);
  return 0;
}
