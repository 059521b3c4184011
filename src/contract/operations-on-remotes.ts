/** The part of the table of operations that is about git: remotes, and the user's own repository. */
import {
  ANYBODY,
  FLAG,
  MESSAGE,
  NAME,
  NOTHING,
  NO_AGENT,
  ON_RUN,
  PATH,
  USD,
  type Operation,
} from './operation.ts';

/** How a remote is reached: with the token in this file, else as the user has set it up. */
const LOGIN = { tokenFile: PATH } as const;
/** A name, or an address; the one of the current branch, else `origin`, where none is named. */
const REMOTE = { remote: PATH, ...LOGIN } as const;
const REMOTE_ERRORS = ['auth', 'network', 'not-found', 'invalid-workflow'] as const;
const HERE_ERRORS = ['no-repository', 'wrong-state', 'busy'] as const;

export const ON_REMOTES = {
  push: {
    input: {
      type: 'object',
      /** `branch`: what it is called there, where not as here. */
      properties: { run: NAME, ...REMOTE, branch: NAME },
    },
    output: 'Pushed',
    errors: [...ON_RUN, ...REMOTE_ERRORS, 'wrong-state', 'rejected'],
    actors: NO_AGENT,
    changes: true,
  },
  pr: {
    input: {
      type: 'object',
      properties: {
        run: NAME,
        ...REMOTE,
        branch: NAME,
        /** Into which branch it is meant to go. */
        base: NAME,
        title: NAME,
        draft: FLAG,
      },
    },
    output: 'PullRequest',
    errors: [...ON_RUN, ...REMOTE_ERRORS, 'wrong-state', 'rejected'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Starts a run on top of this one, with what reviewers said as the prompt of its agent. */
  prFeedback: {
    input: {
      type: 'object',
      properties: {
        run: NAME,
        remote: PATH,
        branch: NAME,
        task: NAME,
        usd: USD,
        unfenced: FLAG,
        trust: FLAG,
      },
    },
    output: 'FeedbackRun',
    streams: { to: 'seen', items: 'Events' },
    errors: [...ON_RUN, ...REMOTE_ERRORS, 'wrong-state', 'busy', 'not-trusted', 'not-supported'],
    actors: NO_AGENT,
    changes: true,
  },
  clone: {
    input: {
      type: 'object',
      properties: {
        url: PATH,
        /** Where to; named for the repository where it is not given. */
        directory: PATH,
        /** Only so many commits of its history. */
        depth: { type: 'integer', minimum: 1 },
        branch: NAME,
        ...LOGIN,
      },
      required: ['url'],
    },
    output: 'Cloned',
    errors: [...REMOTE_ERRORS, 'wrong-state'],
    actors: NO_AGENT,
    changes: true,
  },
  fetch: {
    input: {
      type: 'object',
      /** `branch`: only this one of the remote. */
      properties: { ...REMOTE, branch: NAME },
    },
    output: 'Fetched',
    errors: [...REMOTE_ERRORS, 'no-repository', 'wrong-state'],
    actors: NO_AGENT,
    changes: true,
  },
  /** The user's own branch, not a run's. */
  gitPush: {
    input: { type: 'object', properties: { ...REMOTE, branch: NAME } },
    output: 'PushedBranch',
    errors: [...REMOTE_ERRORS, 'no-repository', 'rejected'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Makes a branch where HEAD is, and switches to it: no file changes. Without a name it only tells the current one. */
  branch: {
    input: { type: 'object', properties: { name: NAME } },
    output: 'Branch',
    errors: HERE_ERRORS,
    actors: NO_AGENT,
    changes: true,
  },
  /** All changes of the work tree, new files included. */
  commit: {
    input: { type: 'object', properties: { message: MESSAGE }, required: ['message'] },
    output: 'Committed',
    errors: HERE_ERRORS,
    actors: NO_AGENT,
    changes: true,
  },
  gitStatus: {
    input: NOTHING,
    output: 'GitStatus',
    errors: ['no-repository'],
    actors: ANYBODY,
    changes: false,
  },
  /** What is not committed, new files included. */
  gitDiff: {
    input: { type: 'object', properties: { stat: FLAG } },
    output: 'Changes',
    streams: { to: 'write', items: 'bytes' },
    errors: ['no-repository', 'wrong-state'],
    actors: ANYBODY,
    changes: false,
  },
} as const satisfies Record<string, Operation>;
