/** The part of the table of operations that changes runs: starting, steering and merging them. What only looks at them is in operations-to-look.ts. */
import type { Value } from './input-schema.ts';
import {
  ABOVE_0,
  AMOUNT,
  NOTHING,
  ANYBODY,
  EVENTS,
  FLAG,
  MESSAGE,
  NAME,
  NAME_CHARS_MAX,
  NO_AGENT,
  ON_RUN,
  PATH,
  RUN,
  USD,
  type Operation,
} from './operation.ts';
import { ANSWER_CHARS_MAX, CHOICES_MAX, LABEL_CHARS_MAX } from './question.ts';
import { RUNTIMES } from './runtimes.ts';
import type { Json, Workflow } from './workflow.ts';

const PROMPT_CHARS_MAX = 1024 * 1024;
const WORDS_MAX = 10_000;
const CHILD_NAME_CHARS_MAX = 64;
const GLOBS_MAX = 50;
const PROMPT = { type: 'string', maxLength: PROMPT_CHARS_MAX } as const;
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
    input: {
      type: 'object',
      properties: {
        ...RUN,
        task: NAME,
        /** What its next attempt is told: why the last one was not enough. */
        feedback: MESSAGE,
        ...DRIVE,
      },
      required: ['task'],
    },
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
      /** `task`: this one alone, with those within it. `now`: do not wait for agents to stop by themselves. */
      properties: { ...RUN, task: NAME, now: FLAG },
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
        /** When the question was asked, as it was shown: one that was asked again since is not answered. */
        askedAtMs: { type: 'integer', minimum: 0 },
      },
      either: [['answer', 'chosen']],
    },
    output: 'Answered',
    errors: [...ON_RUN, 'wrong-state', 'not-trusted'],
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
  /** What all runs have spent and may spend, today and this month, where there are limits. */
  sharedBudgets: {
    input: NOTHING,
    output: 'SharedBudgets',
    errors: ['no-repository', 'invalid-workflow'],
    actors: ANYBODY,
    changes: false,
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
      /**
       * `squash`: one commit with all of it. `head` and `onto` as a preview gave them: refused where either has moved. The
       * others are for the workflow's `merge.check`.
       */
      properties: { ...RUN, squash: FLAG, head: NAME, onto: NAME, unfenced: FLAG, trust: FLAG },
    },
    output: 'Merged',
    streams: { to: 'printed', items: 'text' },
    errors: [...ON_RUN, 'wrong-state', 'busy', 'conflict', 'check', 'not-trusted', 'not-supported'],
    actors: NO_AGENT,
    changes: true,
  },
  /** Moves the branch back to where it was before the run's last merge, as long as it stands where that left it. */
  undoMerge: {
    input: { type: 'object', properties: RUN },
    output: 'MergeUndone',
    errors: [...ON_RUN, 'wrong-state', 'busy'],
    actors: NO_AGENT,
    changes: true,
  },
} as const satisfies Record<string, Operation>;
