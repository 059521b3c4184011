/** Tokens for the HTTP door: made, listed, revoked. A token is shown once, when it is made. */
import { parseDurationMs } from '../base/units.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { TokenView } from '../contract/serving-schema.ts';
import { openRecords } from '../store/records/records.ts';
import { hashToken, makeToken, TOKENS_MAX, type KeptToken } from '../store/records/tokens.ts';

const NAME = /^\w[\w.-]*$/;

export function addToken({ name, role, expires }: Reading<'addToken'>): TokenView & { token: string } {
  if (!NAME.test(name))
    throw new BosunError(
      'usage',
      `a token's name has letters, digits, dots and hyphens only, as in deploy-bot; not ${JSON.stringify(name)}`,
    );
  const createdAtMs = Date.now();
  const token = makeToken();
  const lasts = expires === undefined ? undefined : lastsMs(expires);
  const kept: KeptToken = {
    name,
    role,
    hash: hashToken(token),
    createdAtMs,
    ...(lasts !== undefined && { expiresAtMs: createdAtMs + lasts }),
  };
  using records = openRecords();
  if (records.tokens.all().length >= TOKENS_MAX)
    throw new BosunError(
      'wrong-state',
      `there are ${TOKENS_MAX} tokens, which is the most; revoke some with: bosun token revoke <name>`,
    );
  if (!records.tokens.add(kept))
    throw new BosunError(
      'wrong-state',
      `there is a token ${name} already; revoke it first with: bosun token revoke ${name}`,
    );
  return { ...shown(kept), token };
}

export function listTokens(): TokenView[] {
  using records = openRecords();
  return records.tokens.all().map(shown);
}

export function revokeToken({ name }: Reading<'revokeToken'>): TokenView {
  using records = openRecords();
  const removed = records.tokens.remove(name);
  if (removed) return shown(removed);
  throw new BosunError('not-found', `there is no token ${name}; see what there is with: bosun token list`);
}

function shown({ hash: _hash, ...view }: KeptToken): TokenView {
  return view;
}

function lastsMs(expires: string): number {
  try {
    const ms = parseDurationMs(expires);
    if (ms > 0 && Number.isSafeInteger(ms)) return ms;
  } catch {
    // said below
  }
  throw new BosunError('usage', `expires must be a time such as 12h or 30d, not ${JSON.stringify(expires)}`);
}
