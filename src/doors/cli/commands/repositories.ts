/** `bosun repositories` */
import { BosunError } from '../../../contract/errors.ts';
import type { ServedRepository } from '../../../contract/serving-schema.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { ask } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const [action = 'list', which] = typed.args;
  const print = (each: ServedRepository): void =>
    writeOut(isOn(typed, 'json') ? `${safeJson(each)}\n` : `${each.name}  ${each.directory}\n`);
  if (action === 'add') {
    print(await ask('allowRepository', which === undefined ? {} : { directory: which }));
    return 0;
  }
  if (action === 'remove') {
    if (which === undefined)
      throw new BosunError('usage', 'name the repository, as bosun repositories list does');
    print(await ask('forgetRepository', { repository: which }));
    return 0;
  }
  const all = await ask('repositories', {});
  all.forEach(print);
  if (all.length === 0 && !isOn(typed, 'json'))
    writeError('no repositories; add this one with: bosun repositories add\n');
  return 0;
}
