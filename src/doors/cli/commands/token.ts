/** `bosun token` */
import { BosunError } from '../../../contract/errors.ts';
import type { TokenView } from '../../../contract/serving-schema.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const [action, name] = typed.args;
  const asJson = isOn(typed, 'json');
  if (action === 'list') {
    const tokens = await ask('tokens', {});
    for (const token of tokens) writeOut(asJson ? `${safeJson(token)}\n` : `${lineOf(token)}\n`);
    if (tokens.length === 0 && !asJson)
      writeError('no tokens; make one with: bosun token add <name> --role run\n');
    return 0;
  }
  if (name === undefined)
    throw new BosunError('usage', `name the token, as in: bosun token ${action} deploy-bot`);
  if (action === 'revoke') {
    await ask('revokeToken', inputOf('revokeToken', typed));
    writeError(`revoked ${name}: it is of no use from now on\n`);
    return 0;
  }
  const role = (optionText(typed, 'role') ?? 'read') as TokenView['role'];
  const added = await ask('addToken', inputOf('addToken', typed, { role }));
  writeOut(asJson ? `${safeJson(added)}\n` : `${added.token}\n`);
  if (!asJson) writeError(`${lineOf(added)}; keep it now: it is not shown again\n`);
  return 0;
}

function lineOf({ name, role, expiresAtMs }: TokenView): string {
  const ends =
    expiresAtMs === undefined
      ? 'until it is revoked'
      : `until ${new Date(expiresAtMs).toLocaleString('sv').slice(0, 16)}`;
  const isOver = expiresAtMs !== undefined && expiresAtMs <= Date.now();
  return `${name}  ${role}  ${isOver ? 'expired' : ends}`;
}
