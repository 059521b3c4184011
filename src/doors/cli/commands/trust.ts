/** `bosun trust` */
import { askedBy } from '../../../operations/asked-by.ts';
import { distrust, listTrusted, notTrusted, showAsked, trust, untrusted } from '../../../operations/trust.ts';
import { spellControls, safeJson } from '../../../report/text/plain.ts';
import { given, isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';
import { agree, canAsk } from '../with-trust.ts';

export async function run(typed: Typed): Promise<number> {
  const cwd = process.cwd();
  const [name] = typed.args;
  if (isOn(typed, 'list')) return list(isOn(typed, 'json'));
  if (isOn(typed, 'remove')) {
    const directory = distrust({ cwd, ...given('repository', name) });
    writeError(`${spellControls(directory)} is no longer trusted\n`);
    return 0;
  }
  if (isOn(typed, 'all')) {
    const directory = trust({ cwd, everything: true });
    writeError(`trusted with everything, now and later: ${spellControls(directory)}\n`);
    return 0;
  }
  const options = { cwd, ...given('file', name) };
  const isCode = await trustCode(options);
  const { source, asked } = await askedBy(options);
  const fresh = notTrusted(cwd, asked);
  if (fresh.length > 0) await remember(cwd, { source, asked: fresh });
  else if (asked.length > 0)
    writeError(`${spellControls(source)} is already trusted with all that it asks for\n`);
  else if (!isCode)
    writeError(`${spellControls(source)} asks for nothing beyond this repository: no trust is needed\n`);
  return 0;
}

/** A module can say what it asks for only once it is trusted itself. */
async function trustCode(options: { cwd: string; file?: string }): Promise<boolean> {
  try {
    await askedBy(options);
    return false;
  } catch (error) {
    const refused = untrusted(error);
    if (!refused) throw error;
    await remember(options.cwd, refused);
    return true;
  }
}

/** Whoever types it into a script has looked already. */
async function remember(cwd: string, refused: { source: string; asked: string[] }): Promise<void> {
  if (canAsk()) await agree(cwd, refused);
  else trust({ cwd, asked: refused.asked });
  for (const line of showAsked(refused.asked)) writeError(`trusted: ${line}\n`);
}

function list(asJson: boolean): number {
  for (const repository of listTrusted()) {
    if (asJson) writeOut(`${safeJson(repository)}\n`);
    else {
      writeOut(`${spellControls(repository.directory)}\n`);
      const asked = repository.everything ? ['everything, now and later'] : showAsked(repository.asked);
      for (const line of asked) writeOut(`  ${line}\n`);
    }
  }
  return 0;
}
