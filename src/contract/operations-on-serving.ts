/** The part of the table of operations that is about serving: which repositories, who may come in, and what all runs do. */
import { FLAG, LISTED_RUNS, NAME, NOTHING, NO_AGENT, ON_RUN, PATH, type Operation } from './operation.ts';
import { ROLES } from './role.ts';

const PERSON = ['person'] as const;
const TOKEN_NAME_CHARS_MAX = 64;
const TOKEN_NAME = { type: 'string', maxLength: TOKEN_NAME_CHARS_MAX } as const;

export const ON_SERVING = {
  /** Of all runs of the repository, in the order in which they happened. */
  events: {
    input: {
      type: 'object',
      properties: {
        run: NAME,
        /** Where whoever asks has read to, as an event says it; the beginning where it is not given. */
        after: NAME,
        /** Only what comes from now on. */
        fromNow: FLAG,
        withoutOutput: FLAG,
        /** At most so many; it cannot be combined with follow. */
        limit: { type: 'integer', minimum: 1 },
        /** Goes on until whoever asks has enough. */
        follow: FLAG,
      },
      either: [
        ['after', 'fromNow'],
        ['limit', 'follow'],
      ],
    },
    output: 'ReadUpTo',
    streams: { to: 'seen', items: 'FollowedEvents' },
    errors: ON_RUN,
    actors: NO_AGENT,
    changes: false,
  },
  repositories: {
    input: NOTHING,
    output: 'ServedRepositories',
    errors: [],
    actors: NO_AGENT,
    changes: false,
  },
  /** Of all that are served, the newest first; `before` is the `id` of one in such a list. */
  servedRuns: {
    input: { type: 'object', properties: LISTED_RUNS },
    output: 'ServedRuns',
    errors: ['not-found', 'no-repository'],
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
    output: 'AccessTokens',
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
    output: 'AccessToken',
    errors: ['not-found'],
    actors: PERSON,
    changes: true,
  },
} as const satisfies Record<string, Operation>;
