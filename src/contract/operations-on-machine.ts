/** The part of the table of operations that is about workflow files, trust, what is kept on the disk, and agents' programs. */
import {
  ANYBODY,
  FLAG,
  FROM_0,
  MESSAGE,
  NAME,
  NAME_CHARS_MAX,
  NOTHING,
  NO_AGENT,
  PATH,
  type Operation,
} from './operation.ts';
import { RUNTIMES } from './runtimes.ts';
import { TEMPLATE_NAMES } from './templates.ts';

/** Things that a workflow asks for. */
const ASKED_MAX = 20_000;
const PORT_MAX = 65_535;
/** A program says `trust: true` each time. */
const PERSON = ['person'] as const;
const CHANGING_CONFIG = ['no-repository', 'invalid-workflow', 'busy'] as const;

export const ON_MACHINE = {
  check: {
    input: { type: 'object', properties: { file: PATH, trust: FLAG } },
    output: 'Checked',
    errors: ['invalid-workflow', 'not-trusted'],
    actors: NO_AGENT,
    changes: false,
  },
  workflows: {
    input: NOTHING,
    output: 'WorkflowFiles',
    errors: [],
    actors: NO_AGENT,
    changes: false,
  },
  init: {
    input: {
      type: 'object',
      properties: {
        template: { type: 'string', maxLength: NAME_CHARS_MAX, enum: TEMPLATE_NAMES },
        /** Its runtime; defaults to the first one that is installed. */
        agent: { type: 'string', maxLength: NAME_CHARS_MAX, enum: RUNTIMES },
        /** What starts it, for cli and acp. */
        command: PATH,
        /** A command that must pass; what the repository's own files say if not given. */
        check: PATH,
      },
    },
    output: 'Initialised',
    errors: [],
    actors: NO_AGENT,
    changes: true,
  },
  initMcp: {
    input: {
      type: 'object',
      properties: {
        /** For these agents; for those that are installed where none is named. */
        clients: { type: 'array', items: NAME, maxItems: 10 },
        /** Into the user's own settings, for all repositories. */
        user: FLAG,
      },
    },
    output: 'McpEntries',
    errors: ['no-repository', 'not-found', 'busy'],
    actors: PERSON,
    changes: true,
  },
  doctor: {
    input: NOTHING,
    output: 'Findings',
    errors: [],
    actors: ANYBODY,
    changes: false,
  },
  config: {
    /** `key`: only this one, with what is within it. */
    input: { type: 'object', properties: { key: NAME } },
    output: 'Configuration',
    errors: ['invalid-workflow', 'not-found'],
    actors: NO_AGENT,
    changes: false,
  },
  setConfig: {
    input: {
      type: 'object',
      properties: {
        key: NAME,
        /** As text, or as YAML. */
        value: PATH,
        /** In the file of the repository, which everybody shares. */
        repository: FLAG,
      },
      required: ['key', 'value'],
    },
    output: 'ConfigSet',
    errors: CHANGING_CONFIG,
    actors: PERSON,
    changes: true,
  },
  unsetConfig: {
    input: { type: 'object', properties: { key: NAME, repository: FLAG }, required: ['key'] },
    output: 'ConfigUnset',
    errors: CHANGING_CONFIG,
    actors: PERSON,
    changes: true,
  },
  asked: {
    input: { type: 'object', properties: { file: PATH, trust: FLAG } },
    output: 'AskedFor',
    errors: ['invalid-workflow', 'not-trusted'],
    actors: NO_AGENT,
    changes: false,
  },
  trust: {
    input: {
      type: 'object',
      properties: {
        asked: { type: 'array', items: MESSAGE, maxItems: ASKED_MAX },
        /** Whatever the repository asks for behind fences, now and later. */
        everything: FLAG,
      },
    },
    output: 'Directory',
    errors: ['no-repository'],
    actors: PERSON,
    changes: true,
  },
  trusted: {
    input: NOTHING,
    output: 'TrustedRepositories',
    errors: [],
    actors: NO_AGENT,
    changes: false,
  },
  distrust: {
    input: {
      type: 'object',
      /** A directory, also one that is gone. */
      properties: { repository: PATH },
    },
    output: 'Directory',
    errors: ['not-found'],
    actors: PERSON,
    changes: true,
  },
  hooks: {
    input: { type: 'object', properties: { file: PATH, trust: FLAG } },
    output: 'Hooks',
    errors: ['invalid-workflow', 'not-trusted', 'not-found'],
    actors: NO_AGENT,
    changes: false,
  },
  workspaces: {
    input: NOTHING,
    output: 'WorkspaceList',
    errors: ['no-repository'],
    actors: ANYBODY,
    changes: false,
  },
  clean: {
    input: NOTHING,
    output: 'Cleaned',
    errors: ['no-repository', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  prune: {
    input: {
      type: 'object',
      properties: {
        /** Only runs that ended longer ago than this. */
        olderThanMs: { type: 'number', minimum: 0 },
        /** Never the newest ones, this many. */
        keep: FROM_0,
        /** The oldest ones, until all that bosun keeps takes no more than this. */
        maxBytes: { type: 'number', minimum: 0 },
        /** Also runs that could still be resumed. */
        interrupted: FLAG,
        /** Also runs whose work is on no branch of the user's. */
        unmerged: FLAG,
      },
    },
    output: 'Pruned',
    errors: ['no-repository', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  conformance: {
    input: {
      type: 'object',
      properties: {
        runtime: NAME,
        command: PATH,
        /** Rows to find out about; all if not given. */
        only: { type: 'array', items: NAME, maxItems: 100 },
      },
      required: ['runtime'],
    },
    output: 'Conformance',
    streams: { to: 'onRow', items: 'Verdict' },
    errors: ['not-found', 'not-supported'],
    actors: NO_AGENT,
    changes: false,
  },
  modelServer: {
    input: {
      type: 'object',
      properties: {
        /** The script. */
        file: PATH,
        port: {
          type: 'integer',
          minimum: 0,
          maximum: PORT_MAX,
          must: `a number from 0 (any free port) to ${PORT_MAX}`,
        },
      },
      required: ['file'],
    },
    output: 'Server',
    streams: { to: 'onRequest', items: 'ServerRequest' },
    errors: ['invalid-workflow'],
    actors: NO_AGENT,
    changes: false,
  },
} as const satisfies Record<string, Operation>;
