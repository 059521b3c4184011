/** What went wrong, as the answer says it: problem details (RFC 9457) with the codes of `ERRORS`. It hides what is ours. */
import { isOutOfSpace, machineError } from '../../base/machine-failure.ts';
import { BosunError, ERRORS, type ErrorCode } from '../../contract/errors.ts';
import { STATUS_CODES } from '../../system/net/http.ts';
import type { Headers, Reply } from './call.ts';

interface Field {
  /** A JSON pointer into the body, or the name of a parameter. */
  pointer: string;
  detail: string;
}

interface Details {
  fields?: readonly Field[];
  output?: string | undefined;
  answered?: { answer: string; by: string } | undefined;
}

/** What HTTP itself finds wrong: a status that says more than the code does. */
export class HttpProblem extends BosunError {
  readonly status: number;
  readonly headers: Headers;
  readonly fields: readonly Field[];

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { headers = {}, fields = [] }: { headers?: Headers; fields?: readonly Field[] } = {},
  ) {
    super(code, message);
    this.status = status;
    this.headers = headers;
    this.fields = fields;
  }
}

/** What reads goes on, and what writes may be sent again once there is space. */
export const NO_SPACE = 507;
const DETAIL_CHARS_MAX = 16_000;

/** `onBug` is told of what nobody foresaw; the answer does not say what that was. */
export function problemReply(error: unknown, onBug: (error: unknown) => void): Reply {
  const known = error instanceof BosunError ? error : machineError(error);
  if (!known) {
    onBug(error);
    return reply(500, 'system', 'bosun has failed; its log says more', {});
  }
  const status = statusOf(known);
  const { headers = {}, fields = [] } = known instanceof HttpProblem ? known : {};
  return reply(status, known.code, known.message, headers, {
    fields,
    output: outputOf(known),
    answered: answeredIn(known),
  });
}

function statusOf(error: BosunError): number {
  if (error instanceof HttpProblem) return error.status;
  return isOutOfSpace(error) ? NO_SPACE : ERRORS[error.code].http;
}

function reply(
  status: number,
  code: ErrorCode,
  detail: string,
  headers: Headers,
  { fields = [], output, answered }: Details = {},
): Reply {
  const problem = {
    type: `urn:bosun:problem:${code}`,
    title: STATUS_CODES[status],
    status,
    code,
    detail: detail.slice(0, DETAIL_CHARS_MAX),
    ...(fields.length > 0 && { errors: fields }),
    ...(output !== undefined && { output: output.slice(-DETAIL_CHARS_MAX).toWellFormed() }),
    ...(answered && { answered }),
  };
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify(problem),
  };
}

/** Of a check that failed: what it printed. */
function outputOf({ code, data }: BosunError): string | undefined {
  if (code !== 'check' || typeof data !== 'object' || data === null || !('output' in data)) return undefined;
  return typeof data.output === 'string' ? data.output : undefined;
}

/** Of a question that somebody else was first to answer. */
function answeredIn({ data }: BosunError): { answer: string; by: string } | undefined {
  if (typeof data !== 'object' || data === null || !('answered' in data)) return undefined;
  const { answer, by } = data.answered as { answer: string; by: string };
  return { answer: answer.slice(0, DETAIL_CHARS_MAX).toWellFormed(), by };
}
