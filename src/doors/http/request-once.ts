/** `Idempotency-Key`: what makes a request that is sent again the same one. It remembers nothing: the journal does. */
import { createHash } from 'node:crypto';
import type { HttpCaller } from './access.ts';
import type { Call } from './call.ts';
import { HttpProblem } from './problem.ts';

const HEADER = 'idempotency-key';
const KEY = /^[\x21-\x7e]{1,255}$/;

/** As the operations have it. */
export interface RequestOnce {
  key: string;
  fingerprint: string;
}

/** Undefined where the request has no key. Each caller has keys of its own. */
export function requestOnce(call: Call, caller: HttpCaller, input: unknown): RequestOnce | undefined {
  const { [HEADER]: key } = call.headers;
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key) || call.countOf(HEADER) > 1)
    throw new HttpProblem(400, 'usage', 'Idempotency-Key must be 1 to 255 characters without spaces');
  return { key: hash([caller.key, call.path, key]), fingerprint: hash(input) };
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
