/** The part of the table of operations that is about runs: starting, watching, steering and taking over their work. */
import type { Value } from './input-schema.ts';
import {
  AMOUNT,
  ANYBODY,
  FLAG,
  FROM_0,
  MESSAGE,
  NAME,
  NAME_CHARS_MAX,
  NOTHING,
  NO_AGENT,
  ON_RUN,
  PATH,
  USD,
  TOTALS_PER,
  type Operation,
} from './operation.ts';
import { ANSWER_CHARS_MAX, CHOICES_MAX, LABEL_CHARS_MAX } from './question.ts';
import { RUNTIMES } from './runtimes.ts';
import type { Json, Workflow } from './workflow.ts';

const PROMPT_CHARS_MAX = 1024 * 1024;
const WORDS_MAX = 10_000;
const CHILD_NAME_CHARS_MAX = 64;
const GLOBS_MAX = 50;
const RUNS_MAX = 1000;
const TYPES_MAX = 200;
const ABOVE_0 = { type: 'integer', minimum: 1 } as const;
/** Runs that started since then: `7d`, or a date. */
const SINCE = NAME;
const PROMPT = { type: 'string', maxLength: PROMPT_CHARS_MAX } as const;
/** The only one at work, else the latest, where none is named. */
const RUN = { run: NAME } as const;
const TYPES = { type: 'array', items: NAME, maxItems: TYPES_MAX } as const;
/** What an engine is told that drives a run. */
const DRIVE = { unfenced: FLAG, trust: FLAG, record: PATH, replay: PATH, timing: FLAG } as const;
const WORKFLOW: Value<Workflow> = {
  type: 'object',
  must: 'a workflow, as workflow() or loadWorkflow() gives it',
};
export const INPUTS: Value<Record<string, Json>> = { type: 'object' };
/** `warn`: at a limit that is not hard nobody is asked; it is told, and the run goes on. */
export const OVER_BUDGET = { type: 'string', maxLength: NAME_CHARS_MAX, enum: ['ask', 'warn'] } as const;
/** Asked for again with the same key, a run is not made again. */
const ONCE = {
  key: NAME,
  /** What is asked for, in a few characters: something else with the same key is refused. All of the input, if not given. */
  fingerprint: NAME,
} as const;
/** One agent or one command, with no workflow file. */
export const EXEC = {
  /** For an agent. */
  prompt: PROMPT,
  /** A plain command, in words; or, for an agent, in `command`. */
  argv: { type: 'array', items: PROMPT, maxItems: WORDS_MAX },
  runtime: { type: 'string', maxLength: NAME_CHARS_MAX, enum: RUNTIMES },
  command: PROMPT,
  model: NAME,
  /** A command that must pass; failures go back to the agent. */
  check: PROMPT,
  attempts: ABOVE_0,
  /** Such as 30s or 10m. */
  timeout: NAME,
  dirty: FLAG,
  usd: USD,
} as const;
export const DRIVING = [
  'no-repository',
  'not-found',
  'busy',
  'wrong-state',
  'not-trusted',
  'not-supported',
] as const;
const EVENTS = { to: 'seen', items: 'Events' } as const;

export const ON_RUNS = {
  run: {
    input: {
      type: 'object',
      properties: {
        workflow: WORKFLOW,
        /** What messages and the report call the workflow. */
        source: PATH,
        inputs: INPUTS,
        /** Start from the files as they are, not from the last commit. */
        dirty: FLAG,
        /** What it may cost, whatever the workflow says. */
        usd: USD,
        overBudget: OVER_BUDGET,
        ...DRIVE,
      },
      required: ['workflow', 'source'],
    },
    output: 'StartedRun',
    streams: EVENTS,
    errors: [...DRIVING, 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Checks and records a run that nobody drives yet; see `work`. What an engine is told of its own stays out of the journal. */
  queue: {
    input: {
      type: 'object',
      properties: {
        workflow: WORKFLOW,
        source: PATH,
        inputs: INPUTS,
        dirty: FLAG,
        usd: USD,
        trust: FLAG,
        ...ONCE,
      },
      required: ['workflow', 'source'],
    },
    output: 'QueuedRun',
    errors: ['no-repository', 'not-trusted', 'busy', 'wrong-state', 'conflict', 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  queueExec: {
    input: { type: 'object', properties: { ...EXEC, ...ONCE }, either: [['prompt', 'argv']] },
    output: 'QueuedTask',
    errors: ['no-repository', 'not-trusted', 'busy', 'wrong-state', 'conflict', 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Drives the runs that wait, the oldest first, until none is left. */
  work: {
    input: {
      type: 'object',
      properties: {
        /** How many runs at once. */
        atOnce: ABOVE_0,
        /** Goes on looking when none is left, until it is told to stop. */
        stay: FLAG,
      },
    },
    output: 'Worked',
    streams: { to: 'told', items: 'WorkedOn' },
    errors: DRIVING,
    actors: NO_AGENT,
    changes: true,
  },
  /** An agent with a prompt: a child of a task, or on its own. Recorded as pending, and started at once or by the next engine. */
  spawnAgent: {
    input: {
      type: 'object',
      properties: {
        /** `RUN/TASK`, or a run that has one task. */
        parent: NAME,
        /** An agent of the parent's workflow or of a file, or a runtime; else the same kind as the parent. */
        role: NAME,
        prompt: PROMPT,
        /** What a child of a task at work is called. */
        name: { type: 'string', maxLength: CHILD_NAME_CHARS_MAX },
        runtime: { type: 'string', maxLength: NAME_CHARS_MAX, enum: RUNTIMES },
        model: NAME,
        /** Globs of what it may change. */
        write: { type: 'array', items: NAME, maxItems: GLOBS_MAX },
        check: PROMPT,
        usd: USD,
        tokens: AMOUNT,
        /** Leaves it to the next engine that looks, or that drives the parent. */
        queue: FLAG,
        trust: FLAG,
      },
      required: ['prompt'],
      dependentRequired: { name: ['parent'] },
    },
    output: 'Spawned',
    streams: EVENTS,
    errors: [...DRIVING, 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  exec: {
    input: {
      type: 'object',
      properties: {
        ...EXEC,
        overBudget: OVER_BUDGET,
        ...DRIVE,
      },
      either: [['prompt', 'argv']],
    },
    output: 'StartedTask',
    streams: EVENTS,
    errors: [...DRIVING, 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  resume: {
    input: { type: 'object', properties: { ...RUN, ...DRIVE } },
    output: 'StartedRun',
    streams: EVENTS,
    errors: DRIVING,
    actors: NO_AGENT,
    changes: true,
  },
  retry: {
    input: { type: 'object', properties: { ...RUN, task: NAME, ...DRIVE }, required: ['task'] },
    output: 'StartedRun',
    streams: EVENTS,
    errors: DRIVING,
    actors: NO_AGENT,
    changes: true,
  },
  pause: {
    input: {
      type: 'object',
      /** `name`: a run, or else a task of `run`; all of `run` where nothing is named. */
      properties: { ...RUN, name: NAME },
    },
    output: 'Paused',
    errors: [...ON_RUN, 'wrong-state', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Lets a run or a task go on where an engine drives it; `resume` is for what nobody drives. */
  unpause: {
    input: { type: 'object', properties: { ...RUN, name: NAME } },
    output: 'Unpaused',
    errors: [...ON_RUN, 'wrong-state', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  cancel: {
    input: {
      type: 'object',
      /** `now`: do not wait for agents to stop by themselves. */
      properties: { ...RUN, now: FLAG },
    },
    output: 'Run',
    streams: { to: 'waits', items: 'text' },
    errors: [...ON_RUN, 'wrong-state', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  answer: {
    input: {
      type: 'object',
      properties: {
        ...RUN,
        /** The task that asks; the only open question where none is named. */
        question: NAME,
        /** As a person says it: yes, no, a choice by its number or words, text. */
        answer: { type: 'string', maxLength: ANSWER_CHARS_MAX },
        /** In place of it: the labels of choices. */
        chosen: {
          type: 'array',
          items: { type: 'string', maxLength: LABEL_CHARS_MAX },
          maxItems: CHOICES_MAX,
        },
        /** Why; kept with the answer. */
        note: MESSAGE,
      },
      either: [['answer', 'chosen']],
    },
    output: 'Answered',
    errors: [...ON_RUN, 'wrong-state'],
    actors: NO_AGENT,
    changes: true,
  },
  steer: {
    input: { type: 'object', properties: { ...RUN, task: NAME, text: MESSAGE }, required: ['task', 'text'] },
    output: 'Steered',
    errors: [...ON_RUN, 'wrong-state'],
    actors: NO_AGENT,
    changes: true,
  },
  setBudget: {
    input: {
      type: 'object',
      properties: {
        ...RUN,
        /** The limit is this agent's, not the whole run's. */
        agent: NAME,
        /** The limit is this task's, with the tasks within it. */
        task: NAME,
        usd: AMOUNT,
        tokens: AMOUNT,
        requests: AMOUNT,
        minutes: AMOUNT,
      },
      either: [['agent', 'task']],
    },
    output: 'BudgetSet',
    errors: [...ON_RUN, 'wrong-state', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
  raiseSharedBudget: {
    input: {
      type: 'object',
      /** What all runs may spend today, and this month. */
      properties: { usdPerDay: AMOUNT, usdPerMonth: AMOUNT },
    },
    output: 'SharedBudgets',
    errors: ['no-repository', 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
  merge: {
    input: {
      type: 'object',
      /** `squash`: one commit with all of it. The others are for the workflow's `merge.check`. */
      properties: { ...RUN, squash: FLAG, unfenced: FLAG, trust: FLAG },
    },
    output: 'Merged',
    streams: { to: 'printed', items: 'text' },
    errors: [...ON_RUN, 'wrong-state', 'busy', 'conflict', 'check', 'not-trusted', 'not-supported'],
    actors: NO_AGENT,
    changes: true,
  },
  status: {
    input: { type: 'object', properties: { ...RUN, limit: ABOVE_0 } },
    output: 'Status',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  atWork: {
    input: NOTHING,
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
    input: { type: 'object', properties: { limit: ABOVE_0, since: SINCE } },
    output: 'ShownRuns',
    errors: ON_RUN,
    actors: ANYBODY,
    changes: false,
  },
  /** Cost, time and failures of many runs, summed. */
  totals: {
    input: {
      type: 'object',
      properties: { per: { type: 'string', maxLength: NAME_CHARS_MAX, enum: TOTALS_PER }, since: SINCE },
      required: ['per'],
    },
    output: 'Totals',
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
        /** Only the files and how many lines, without a patch. */
        stat: FLAG,
      },
      dependentRequired: { attempt: ['task'], outside: ['task'] },
    },
    output: 'Changes',
    streams: { to: 'write', items: 'bytes' },
    errors: ON_RUN,
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
} as const satisfies Record<string, Operation>;
