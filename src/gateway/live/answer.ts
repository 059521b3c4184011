/** What of a provider's answer is given on to the agent: the beginning, the rest as it comes, and complaints. */
import type { Secret } from '../keys/keys.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { returnedHeaders } from './headers.ts';
import type { Scrub } from './scrub.ts';
import { TransportError, type ModelResponse } from '../transport.ts';

/** What a request was sent with. */
export interface Used {
  /** What must not come back. */
  scrub: Scrub;
  /** The agent's own. */
  isLogin: boolean;
  /** Where the key is from. */
  source?: Pick<Secret, 'how'> | undefined;
}

/** An answer that is not given on at once. */
export type FailedAnswer =
  { error: TransportError } | { status: number; headers: Record<string, string>; body: Buffer };

/** Waits for the first byte: what breaks before it can be tried again. */
export async function begin(
  answer: HttpAnswer,
  { scrub, isLogin }: Used,
): Promise<ModelResponse | { failure: FailedAnswer }> {
  const { status } = answer;
  const headers = returnedHeaders(answer.headers, scrub);
  const first = await answer.next();
  if (status === 200 && first && !couldBe(headers['content-type'] ?? '', first)) {
    answer.close();
    throw malformed(`${answer.provider} returned a malformed response`);
  }
  if (status === 200 && headers['content-type']?.startsWith('text/event-stream')) {
    if (!first) throw malformed(`${answer.provider} ended its response before the first event`);
    // A provider that fails after it has promised to answer says so in the first event.
    if (first.subarray(0, ERROR_EVENT.length).equals(ERROR_EVENT)) {
      answer.close();
      return { failure: { status, headers, body: first } };
    }
  }
  return { status, headers, body: bodyOf(answer, first, scrub), ...(isLogin && { ownLogin: true }) };
}

/** The provider called it a success, so it may charge for it. */
function malformed(message: string): TransportError {
  const error = new TransportError('network', 502, message);
  error.mayCost = true;
  return error;
}

/** Whether bytes that begin like this could be what they are said to be; also where that cannot be told yet. */
function couldBe(type: string, first: Buffer): boolean {
  const start = first.toString('latin1', 0, START_BYTES).replace(/^(\xef\xbb\xbf)?\s*/, '');
  if (start === '') return true;
  if (type.startsWith('text/event-stream')) return /^[edir:]/.test(start); // event, data, id, retry, or a comment
  return !/^application\/json\b/.test(type) || /^[[{"\dtfn-]/.test(start);
}

const START_BYTES = 256;
const ERROR_EVENT = Buffer.from('event: error');

/** Not a generator: one that is ended before it was begun would not close the answer. */
function bodyOf(answer: HttpAnswer, first: Buffer | undefined, scrub: Scrub): AsyncIterable<Buffer> {
  const clean = scrub.cleaner();
  let peeked = first;
  let isOver = first === undefined;
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    while (!isOver) {
      const piece = peeked ?? (await answer.next());
      peeked = undefined;
      isOver = piece === undefined;
      const value = clean(piece);
      if (value && value.length > 0) return { value, done: false };
    }
    return { value: undefined, done: true };
  };
  const end = async (): Promise<IteratorResult<Buffer, undefined>> => {
    answer.close();
    return { value: undefined, done: true };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** A complaint, or the last error; what may be tried again was, so the agent need not. */
export function responseFor(
  failure: FailedAnswer,
  { scrub, isLogin, source }: Used,
  tries = 1,
): ModelResponse {
  if ('error' in failure) {
    const { kind, status, message, cause, mayCost } = failure.error;
    const told = tries > 1 ? `${message} (${tries} tries)` : message;
    throw Object.assign(new TransportError(kind, status, told, cause), { mayCost });
  }
  const { 'content-length': _, ...headers } = failure.headers;
  return {
    status: failure.status,
    headers: { ...headers, 'x-should-retry': 'false' },
    body: only(scrub.clean(failure.body)),
    ...(isLogin && { ownLogin: true }),
    ...(failure.status === 401 && source && { rejectedKey: source.how.replace(/^variable /, '') }),
  };
}

async function* only(body: Buffer): AsyncGenerator<Buffer> {
  if (body.length > 0) yield body;
}
