/** What of a provider's answer is given on to the agent: the beginning, the rest as it comes, and complaints. */
import type { Answer } from './live-exchange.ts';
import { returnedHeaders } from './live-headers.ts';
import { withoutSecret } from './live-scrub.ts';
import { TransportError, type ModelResponse } from './transport.ts';

/** What a request was sent with. */
export interface Used {
  /** What must not come back. */
  secret: string | undefined;
  /** The agent's own. */
  isLogin: boolean;
}

/** An answer that is not given on at once. */
export type Failure =
  { error: TransportError } | { status: number; headers: Record<string, string>; body: Buffer };

/** Waits for the first byte: what breaks before it can be tried again. */
export async function begin(
  answer: Answer,
  { secret, isLogin }: Used,
): Promise<ModelResponse | { failure: Failure }> {
  const { status, response } = answer;
  const headers = returnedHeaders(response.headers, secret);
  const first = await answer.next();
  if (status === 200 && headers['content-type']?.startsWith('text/event-stream')) {
    if (!first) throw new TransportError('network', 502, 'an answer ended before its first event');
    // A provider that fails after it has promised to answer says so in the first event.
    if (first.subarray(0, ERROR_EVENT.length).equals(ERROR_EVENT)) {
      answer.close();
      return { failure: { status, headers, body: first } };
    }
  }
  const isComplaint = status >= 400 && secret !== undefined;
  if (isComplaint) delete headers['content-length'];
  const body = bodyOf(answer, first);
  return {
    status,
    headers,
    body: isComplaint ? withoutSecret(body, secret) : body,
    ...(isLogin && { ownLogin: true }),
  };
}

const ERROR_EVENT = Buffer.from('event: error');

/** Not a generator: one that is ended before it was begun would not close the answer. */
function bodyOf(answer: Answer, first: Buffer | undefined): AsyncIterable<Buffer> {
  let peeked = first;
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    const value = peeked ?? (first && (await answer.next()));
    peeked = undefined;
    return value ? { value, done: false } : { value: undefined, done: true };
  };
  const end = async (): Promise<IteratorResult<Buffer, undefined>> => {
    answer.close();
    return { value: undefined, done: true };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** The last answer, or the last error; the agent need not try again what was tried here. */
export function given(failure: Failure, { secret, isLogin }: Used, tries = 1): ModelResponse {
  if ('error' in failure) {
    const { kind, status, message, cause } = failure.error;
    throw new TransportError(kind, status, tries > 1 ? `${message} (${tries} tries)` : message, cause);
  }
  const { 'content-length': _, ...headers } = failure.headers;
  const once = (async function* () {
    yield failure.body;
  })();
  return {
    status: failure.status,
    headers: { ...headers, 'x-should-retry': 'false' },
    body: secret === undefined ? once : withoutSecret(once, secret),
    ...(isLogin && { ownLogin: true }),
  };
}
