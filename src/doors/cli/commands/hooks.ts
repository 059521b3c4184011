/** `bosun hooks` */
import { shellWord } from '../../../base/shell-word.ts';
import { formatDuration } from '../../../base/units.ts';
import type { OutputOf } from '../../../contract/operations.ts';
import { safeJson, spellControls } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';
import { withTrust } from '../with-trust.ts';

export async function run(typed: Typed): Promise<number> {
  const input = inputOf('hooks', typed);
  const hooks = await withTrust(() => ask('hooks', input));
  if (isOn(typed, 'json')) {
    for (const hook of hooks) writeOut(`${safeJson(hook)}\n`);
    return 0;
  }
  const how = ['bosun trust', ...(input.file === undefined ? [] : [shellWord(input.file)])].join(' ');
  const paint = painter(hasColor(process.stdout));
  for (const hook of hooks) {
    writeOut(`${paint('strong', spellControls(hook.name))}  ${hook.on.join(', ')}\n`);
    writeOut(`  ${spellControls(hook.what)}\n`);
    writeOut(`  ${paint('quiet', whereOf(hook))}\n`);
    if (!hook.isTrusted) writeOut(`  ${paint('ask', `not trusted yet: ${how}`)}\n`);
  }
  writeError(
    hooks.length === 0
      ? 'no hooks: docs/hooks.md says how to write some\n'
      : `${count(hooks.length, 'hook')}\n`,
  );
  return 0;
}

function whereOf({ from, timeoutMs }: OutputOf<'hooks'>[number]): string {
  return `from ${spellControls(from)}, at most ${formatDuration(timeoutMs)}`;
}
