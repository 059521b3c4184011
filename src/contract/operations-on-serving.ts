/** The part of the table of operations that is about serving: which repositories, and who may come in. */
import { NAME, NOTHING, NO_AGENT, PATH, type Operation } from './operation.ts';
import { ROLES } from './role.ts';

const PERSON = ['person'] as const;
const TOKEN_NAME_CHARS_MAX = 64;
const TOKEN_NAME = { type: 'string', maxLength: TOKEN_NAME_CHARS_MAX } as const;

export const ON_SERVING = {
  repositories: {
    input: NOTHING,
    output: 'ServedRepositories',
    errors: [],
    actors: NO_AGENT,
    changes: false,
  },
  allowRepository: {
    input: {
      type: 'object',
      /** The one that whoever asks stands in, where none is named. */
      properties: { directory: PATH },
    },
    output: 'ServedRepository',
    errors: ['no-repository', 'wrong-state'],
    actors: NO_AGENT,
    changes: true,
  },
  forgetRepository: {
    input: { type: 'object', properties: { repository: NAME }, required: ['repository'] },
    output: 'ServedRepository',
    errors: ['not-found'],
    actors: NO_AGENT,
    changes: true,
  },
  tokens: {
    input: NOTHING,
    output: 'Tokens',
    errors: [],
    actors: PERSON,
    changes: false,
  },
  addToken: {
    input: {
      type: 'object',
      properties: {
        name: TOKEN_NAME,
        role: { type: 'string', maxLength: TOKEN_NAME_CHARS_MAX, enum: ROLES },
        /** Such as 12h or 30d; it lasts until it is revoked where this is not given. */
        expires: TOKEN_NAME,
      },
      required: ['name', 'role'],
    },
    output: 'NewToken',
    errors: ['wrong-state'],
    actors: PERSON,
    changes: true,
  },
  revokeToken: {
    input: { type: 'object', properties: { name: TOKEN_NAME }, required: ['name'] },
    output: 'Token',
    errors: ['not-found'],
    actors: PERSON,
    changes: true,
  },
} as const satisfies Record<string, Operation>;
