/** The one error that bosun throws on purpose, and what each of its codes means at every door. */

export const ERRORS = {
  usage: { exit: 2, http: 400, rpc: -32602 },
  'invalid-workflow': { exit: 2, http: 422, rpc: -32001 },
  'not-supported': { exit: 2, http: 501, rpc: -32002 },
  'no-repository': { exit: 2, http: 409, rpc: -32003 },
  'not-found': { exit: 2, http: 404, rpc: -32004 },
  busy: { exit: 2, http: 409, rpc: -32005 },
  'wrong-state': { exit: 2, http: 409, rpc: -32006 },
  'not-trusted': { exit: 2, http: 403, rpc: -32010 },
  conflict: { exit: 1, http: 409, rpc: -32007 },
  check: { exit: 1, http: 409, rpc: -32011 },
  /** Of a remote: it wants another login, cannot be reached, or does not take what was pushed. */
  auth: { exit: 1, http: 502, rpc: -32012 },
  network: { exit: 1, http: 504, rpc: -32013 },
  rejected: { exit: 1, http: 409, rpc: -32014 },
  journal: { exit: 1, http: 500, rpc: -32008 },
  system: { exit: 1, http: 500, rpc: -32009 },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** The message is for people: what failed, on what, why, and what to do next. */
export class BosunError extends Error {
  override readonly name = 'BosunError';
  readonly code: ErrorCode;
  readonly data: unknown;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; data?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/** A process of bosun's own died: what waited for it is nobody's failure, and is to be done again. */
export class HelperDied extends BosunError {
  constructor(helper: string, how: string) {
    super('system', `a helper process of bosun's own (${helper}) died: ${how}`);
  }
}
