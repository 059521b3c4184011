/**
 * A hook that is an address: a signed POST after the fact, as Standard Webhooks describe it, tried again for a while
 * where it fails. It follows no redirect and takes nothing from the answer but its status.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BosunError } from '../contract/errors.ts';
import type { TellUntil } from './hook.ts';
import { post, type Letter } from './post.ts';
import { untilAborted } from '../base/until-aborted.ts';

const TRIES_MAX = 5;
/** Before the second try; each later wait is four times as long, and somewhat chance. */
const BACKOFF_MS = 1000;
const BACKOFF_TIMES = 4;
/** Of one try. */
const TRY_MS_MAX = 10_000;
/** What may go well at another time. */
const PASSING = new Set([408, 425, 429]);

export interface WebhookOptions {
  url: string;
  /** Reads the secret that signs; nothing is signed without. */
  secret?: (() => Promise<string>) | undefined;
  env: NodeJS.ProcessEnv;
  /** The first wait, for tests. */
  backoffMs?: number | undefined;
}

export async function tellWebhook(
  { secret, ...options }: WebhookOptions,
  input: object,
  until: TellUntil,
  id = `msg_${randomUUID().replaceAll('-', '')}`, // the same for all tries, so that nobody takes one twice
): Promise<void> {
  const body = JSON.stringify(input);
  const key = secret && keyOf(await untilAborted(secret, until.signal));
  const headers = (): Record<string, string> => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    return {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(key && { 'webhook-signature': signatureOf(key, id, timestamp, body) }),
    };
  };
  await deliver(() => ({ ...options, headers: headers(), body }), until, options.backoffMs);
}

/** `v1,` and the HMAC-SHA256 of id, timestamp and body. */
function signatureOf(key: Buffer, id: string, timestamp: string, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** As Standard Webhooks write it, base64 after `whsec_`; else its own characters. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret);
}

/** Throws what went wrong at the last try. */
export async function deliver(
  letter: () => Letter,
  { signal, closing }: TellUntil,
  backoffMs = BACKOFF_MS,
): Promise<void> {
  let waitMs = backoffMs;
  for (let tries = 1; ; tries += 1) {
    const problem = await tryOnce(letter(), signal);
    if (problem === undefined) return;
    const isLast = tries === TRIES_MAX || !problem.isPassing || closing.aborted;
    if (isLast) throw new BosunError('system', `${problem.why} (${count(tries)})`);
    // Many that failed together do not come back together.
    const ms = waitMs * (0.5 + Math.random());
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, closing]) }).catch(() => {});
    signal.throwIfAborted();
    waitMs *= BACKOFF_TIMES;
  }
}

async function tryOnce(
  letter: Letter,
  signal: AbortSignal,
): Promise<{ why: string; isPassing: boolean } | undefined> {
  const { hostname } = new URL(letter.url);
  const late = AbortSignal.timeout(TRY_MS_MAX);
  let status: number;
  try {
    status = await post(letter, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted)
      return { why: `${hostname} did not answer within ${TRY_MS_MAX / 1000} s`, isPassing: true };
    if (!(error instanceof BosunError)) throw error;
    return { why: error.message, isPassing: true };
  }
  if (status >= 200 && status < 300) return undefined;
  const where = status >= 300 && status < 400 ? ', a redirect, and none is followed' : '';
  return {
    why: `${hostname} answered ${status}${where}`,
    isPassing: status >= 500 || PASSING.has(status),
  };
}

function count(tries: number): string {
  return tries === 1 ? 'tried once' : `tried ${tries} times`;
}
