/** The part of the table of operations that only looks at runs: status, logs, diffs, reports, money, messages. */
import { TASK_STATES } from './run-states.ts';
import {
  ABOVE_0,
  ANYBODY,
  EVENTS,
  FLAG,
  FROM_0,
  LISTED_RUNS,
  NAME,
  NAME_CHARS_MAX,
  NO_AGENT,
  ON_RUN,
  PATH,
  RUN,
  TOTALS_PER,
  type Operation,
} from './operation.ts';

const RUNS_MAX = 1000;
const TYPES_MAX = 200;
const GLANCES_MAX = 100;
const TASK_STATES_LIST = {
  type: 'array',
  items: { type: 'string', maxLength: NAME_CHARS_MAX, enum: TASK_STATES },
  maxItems: TASK_STATES.length,
} as const;
const TYPES = { type: 'array', items: NAME, maxItems: TYPES_MAX } as const;

export const TO_LOOK = {
  status: {
    input: { type: 'object', properties: { ...RUN, limit: ABOVE_0 } },
    output: 'Status',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  atWork: {
    input: { type: 'object', properties: { queued: FLAG } },
    output: 'ShownRuns',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  agents: {
    input: { type: 'object', properties: RUN },
    output: 'Agents',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  history: {
    input: { type: 'object', properties: LISTED_RUNS },
    output: 'ShownRuns',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** The newest runs at a glance: each with its strip and the tasks that need attention; and what was spent by day. */
  overview: {
    input: {
      type: 'object',
      properties: {
        limit: ABOVE_0,
        /** Only these, and no days: for who has seen the others. */
        runs: { type: 'array', items: NAME, maxItems: GLANCES_MAX },
      },
      either: [['limit', 'runs']],
    },
    output: 'Overview',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** Cost, time and failures of many runs, summed. */
  totals: {
    input: {
      type: 'object',
      properties: { per: { type: 'string', maxLength: NAME_CHARS_MAX, enum: TOTALS_PER }, since: NAME },
      required: ['per'],
    },
    output: 'Totals',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** What a run of this workflow may cost and how long it may take, by its last ones. */
  forecast: {
    input: { type: 'object', properties: { workflow: NAME }, required: ['workflow'] },
    output: 'Forecast',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  logs: {
    input: {
      type: 'object',
      properties: {
        ...RUN,
        task: NAME,
        afterSeq: FROM_0,
        /** Leaves out what agents printed. */
        withoutOutput: FLAG,
        /** Only events of these types. */
        types: TYPES,
        /** Goes on until the run ends, or nobody drives it any more. */
        follow: FLAG,
      },
    },
    output: 'ReadTo',
    streams: EVENTS,
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  attach: {
    input: {
      type: 'object',
      /** `past`: also tells what happened before, without what tasks printed. */
      properties: { ...RUN, past: FLAG },
    },
    output: 'AttachedRun',
    streams: EVENTS,
    errors: [...ON_RUN, 'wrong-state'],
    actors: NO_AGENT,
    changes: false,
  },
  wait: {
    input: {
      type: 'object',
      properties: { runs: { type: 'array', items: NAME, maxItems: RUNS_MAX } },
    },
    output: 'Runs',
    streams: { to: 'needsPerson', items: 'Run' },
    errors: [...ON_RUN, 'wrong-state'],
    actors: ANYBODY,
    changes: false,
  },
  budget: {
    input: { type: 'object', properties: RUN },
    output: 'Budgets',
    errors: [...ON_RUN, 'invalid-workflow'],
    actors: ANYBODY,
    changes: false,
  },
  diff: {
    input: {
      type: 'object',
      properties: {
        ...RUN,
        /** Only what this task did. */
        task: NAME,
        /** Of a task: the snapshot of this attempt, whatever became of it. The last one where none is named. */
        attempt: ABOVE_0,
        /** Of a task: what its scope did not allow, against what was taken of it. */
        outside: FLAG,
        /** Of a task: the change that its agent asks an owner for, which is in no commit. */
        wanted: FLAG,
        /** Only this file. */
        path: PATH,
        /** Only the files and how many lines, without a patch. */
        stat: FLAG,
      },
      dependentRequired: { attempt: ['task'], outside: ['task'], wanted: ['task'] },
      either: [['wanted', 'path']],
    },
    output: 'Changes',
    streams: { to: 'write', items: 'bytes' },
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** What a merge into the current branch would do: files, commits, conflicts, and what stands in its way. */
  previewMerge: {
    input: { type: 'object', properties: { ...RUN, squash: FLAG } },
    output: 'MergePreview',
    errors: [...ON_RUN, 'wrong-state'],
    actors: ANYBODY,
    changes: false,
  },
  report: {
    input: {
      type: 'object',
      /** `written`: as it was when the run ended, where it has. */
      properties: { ...RUN, written: FLAG },
    },
    output: 'Report',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  messages: {
    input: { type: 'object', properties: RUN },
    output: 'Messages',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  reportPage: {
    input: { type: 'object', properties: RUN },
    output: 'File',
    errors: ON_RUN,
    actors: NO_AGENT,
    changes: false,
  },
  open: {
    input: {
      type: 'object',
      properties: {
        ...RUN,
        /** As the agent that serves it calls it. */
        service: NAME,
        /** Any protocol, without the checks that keep pages of browsers out. */
        tcp: FLAG,
      },
      required: ['service'],
    },
    output: 'Opened',
    errors: [...ON_RUN, 'wrong-state'],
    actors: NO_AGENT,
    changes: false,
  },
  output: {
    input: { type: 'object', properties: { ...RUN, task: NAME }, required: ['task'] },
    output: 'Given',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** The tasks of a run, in the order in which they are shown; with `after` those behind this one. */
  tasks: {
    input: {
      type: 'object',
      properties: { ...RUN, state: TASK_STATES_LIST, limit: ABOVE_0, after: NAME },
    },
    output: 'ShownTasks',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** What was tried for a task, the first attempt first. */
  attempts: {
    input: { type: 'object', properties: { ...RUN, task: NAME }, required: ['task'] },
    output: 'ShownAttempts',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** Files that an attempt of a task kept; the last one that left something where none is named. */
  artifacts: {
    input: { type: 'object', properties: { ...RUN, task: NAME, attempt: ABOVE_0 }, required: ['task'] },
    output: 'Artifacts',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** One of them, byte for byte. */
  artifact: {
    input: {
      type: 'object',
      properties: { ...RUN, task: NAME, attempt: ABOVE_0, path: PATH },
      required: ['task', 'path'],
    },
    output: 'Artifact',
    streams: { to: 'write', items: 'bytes' },
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
} as const satisfies Record<string, Operation>;
