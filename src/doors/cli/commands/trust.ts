/** `bosun trust` */
import type { InputOf } from '../../../contract/operations.ts';
import { showAsked, untrusted } from '../../../operations/trust.ts';
import { spellControls, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';
import { agree, canAsk } from '../with-trust.ts';

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'list')) return list(isOn(typed, 'json'));
  if (isOn(typed, 'remove')) {
    const { directory } = await ask('distrust', given('repository', typed.args[0]));
    writeError(`${spellControls(directory)} is no longer trusted\n`);
    return 0;
  }
  if (isOn(typed, 'all')) {
    const { directory } = await ask('trust', { everything: true });
    writeError(`trusted with everything behind fences, now and later: ${spellControls(directory)}\n`);
    return 0;
  }
  const input = inputOf('asked', typed);
  const isCode = await trustCode(input);
  const { source, asked, fresh } = await ask('asked', input);
  if (fresh.length > 0) await remember({ source, asked: fresh });
  else if (asked.length > 0)
    writeError(`${spellControls(source)} is already trusted with all that it asks for\n`);
  else if (!isCode)
    writeError(`${spellControls(source)} asks for nothing beyond this repository: no trust is needed\n`);
  return 0;
}

/** A module can say what it asks for only once it is trusted itself. */
async function trustCode(input: InputOf<'asked'>): Promise<boolean> {
  try {
    await ask('asked', input);
    return false;
  } catch (error) {
    const refused = untrusted(error);
    if (!refused) throw error;
    await remember(refused);
    return true;
  }
}

/** Whoever types it into a script has looked already. */
async function remember(refused: { source: string; asked: string[] }): Promise<void> {
  if (canAsk()) await agree(refused);
  else await ask('trust', { asked: refused.asked });
  for (const line of showAsked(refused.asked)) writeError(`trusted: ${line}\n`);
}

async function list(asJson: boolean): Promise<number> {
  const trusted = await ask('trusted', {});
  if (trusted.length === 0) writeError('you trust no repository with more than itself\n');
  for (const repository of trusted) {
    if (asJson) writeOut(`${safeJson(repository)}\n`);
    else {
      writeOut(`${spellControls(repository.directory)}\n`);
      const asked = repository.everything
        ? ['everything behind fences, now and later']
        : [
            ...(repository.whileAlone ? ['everything, while it has no remote'] : []),
            ...showAsked(repository.asked),
          ];
      for (const line of asked) writeOut(`  ${line}\n`);
    }
  }
  return 0;
}
