/** How each provider refuses a conversation that is longer than its model takes. */
import type { Dialect } from '../contract/model.ts';

export const TOO_LONG_STATUS = 400;

export function tooLong(dialect: Dialect): unknown {
  return BODIES[dialect];
}

const BODIES = {
  anthropic: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
  },
  openai: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  gemini: {
    error: {
      code: TOO_LONG_STATUS,
      message: 'The input token count (1208310) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
} as const;
