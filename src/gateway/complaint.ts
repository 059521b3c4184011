/** An error as an agent's own protocol says it, so that the agent stops and shows our sentence. It decides nothing. */
import { cutText } from '../base/cut-text.ts';
import { saysTooLong } from '../base/too-long.ts';
import type { AgentErrorKind, Dialect } from '../contract/model.ts';

interface Complaint {
  headers: Record<string, string>;
  body: string;
}

/** The gateway has been patient already; more of it by the agent would only cost time. */
export const NO_RETRY = { 'x-should-retry': 'false' };

const MESSAGE_CHARS_MAX = 2000;
const REASON_CHARS_MAX = 300;

/**
 * The status that makes agents stop and show what they were told. Measured with x-should-retry: false, which Claude
 * Code heeds for all but 400 (it tries again without its betas), and says "failed to authenticate" of 401 and 403;
 * Codex stops at once for 400 alone; OpenCode and Gemini try again for 408, 429 and 5xx.
 */
const STOP = { anthropic: 402, openai: 400, gemini: 402 } as const;
const RETRIED = {
  anthropic: () => false,
  openai: (status: number) => [401, 402, 403, 408, 409, 429].includes(status) || status >= 500,
  gemini: (status: number) => [408, 429].includes(status) || status >= 500,
};

/** In place of one for which the agent would go on trying, when the gateway has given up. */
export function stoppingStatus(dialect: Dialect, status: number): number {
  return RETRIED[dialect](status) ? STOP[dialect] : status;
}

/** For what a budget, a guard or a person does not allow. */
export function refusedStatus(dialect: Dialect): number {
  return STOP[dialect];
}

export function complaintOf(dialect: Dialect, status: number, said: string): Complaint {
  const message = cutText(said, MESSAGE_CHARS_MAX);
  return {
    headers: { 'content-type': 'application/json', ...NO_RETRY },
    body: JSON.stringify(bodyOf(dialect, status, message)),
  };
}

/** Why a provider's own answer is an error; undefined where it is none. */
export function kindOfStatus(status: number): AgentErrorKind | undefined {
  if (status < 400) return undefined;
  if (status === 401 || status === 403) return 'auth';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate-limit';
  return status < 500 ? 'bad-request' : 'overloaded';
}

/** The same with what it says: a request may be refused because it is too long. */
export function kindOfAnswer(kind: AgentErrorKind, status: number, body: Buffer): AgentErrorKind {
  if (kind !== 'bad-request') return kind;
  return status === 413 || saysTooLong(body.toString()) ? 'context-full' : kind;
}

/** What a provider says of its error; nothing of what it says of keys. */
export function reasonIn(kind: AgentErrorKind, body: Buffer): string {
  if (kind === 'auth') return '';
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? `: ${error.message.slice(0, REASON_CHARS_MAX)}` : '';
  } catch {
    return '';
  }
}

function bodyOf(dialect: Dialect, status: number, message: string): unknown {
  if (dialect === 'anthropic') return { type: 'error', error: { type: anthropicType(status), message } };
  if (dialect === 'openai')
    return { error: { message, type: openaiType(status), param: null, code: 'bosun' } };
  return { error: { code: status, message, status: geminiStatus(status) } };
}

function anthropicType(status: number): string {
  const types: Record<number, string> = {
    401: 'authentication_error',
    402: 'billing_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function openaiType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function geminiStatus(status: number): string {
  const names: Record<number, string> = {
    401: 'UNAUTHENTICATED',
    402: 'FAILED_PRECONDITION',
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    429: 'RESOURCE_EXHAUSTED',
    503: 'UNAVAILABLE',
    504: 'DEADLINE_EXCEEDED',
  };
  return names[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}
