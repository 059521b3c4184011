/** The workflow file: one schema from which the types, the checks and the published JSON Schema come. */
import { z } from 'zod';
import { Duration, Timeout } from './duration.ts';
import { HOOKS_MAX } from './hook.ts';
import { WorkflowHook } from './hook-config.ts';
import { CHOICES_MAX, LABEL_CHARS_MAX } from './question.ts';
import { RUNTIME_DEFAULT, RUNTIMES } from './runtimes.ts';

const NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]*$/;
export const TASKS_MAX = 20_000;
/** Of one plan. */
export const EXPANSION_TASKS_MAX = 1000;
const REPLANS_MAX = 10;
/** Of one race. */
const CANDIDATES_MAX = 20;

const name = z
  .string()
  .regex(NAME_PATTERN, 'must start with a letter or "_" and hold only letters, digits, "-" and "_"')
  .max(64);

const SIZE_MESSAGE = 'must be a size such as 512MB or 2GB';
const Size = z.union(
  [z.int().nonnegative(), z.string().regex(/^\d+(\.\d+)?\s?(B|KB|MB|GB|TB)$/i, SIZE_MESSAGE)],
  SIZE_MESSAGE,
);

export const Budget = z.strictObject({
  usd: z.number().positive().optional(),
  tokens: z.int().positive().optional(),
  requests: z.int().positive().optional(),
  minutes: z.number().positive().optional(),
  enforce: z.enum(['ask', 'hard']).optional(),
  'unknown-price': z.enum(['refuse', 'allow']).optional(),
});

const Scope = z.strictObject({
  write: z.array(z.string()).optional().describe('Globs of the files the agent may change.'),
  read: z.array(z.string()).optional().describe('Further paths the agent may read.'),
  hide: z.array(z.string()).optional().describe('Globs of files the agent must not see.'),
  shared: z.array(z.string()).optional().describe('Files several agents may change at the same time.'),
  network: z.array(z.string()).optional().describe('Hosts the agent may reach.'),
  env: z.record(z.string(), z.string()).optional().describe('Environment variables the agent gets.'),
  grant: z
    .union(
      [z.enum(['ask', 'owner', 'never']), z.array(z.string())],
      'must be ask, owner, never or a list of globs',
    )
    .optional()
    .describe('Who answers when the agent asks for more.'),
});

const Limits = z.strictObject({
  minutes: z.number().positive().optional(),
  memory: Size.optional(),
  processes: z.int().positive().optional(),
  cpu: z.number().positive().optional(),
  disk: Size.optional(),
  files: z.int().positive().optional(),
  output: Size.optional().describe('How much of what the agent prints is kept.'),
});

const McpServer = z.union(
  [
    z.strictObject({
      command: z.string().min(1),
      args: z.array(z.string()).optional(),
      env: z.record(z.string(), z.string()).optional(),
    }),
    z.strictObject({ url: z.url(), headers: z.record(z.string(), z.string()).optional() }),
  ],
  'must be a map with a command, or with a url',
);

const Finder = z
  .string()
  .refine(isFinder, 'must be a regular expression with one group, or a path such as $.usage.input')
  .describe('A regular expression with one group, or a JSON path that starts with "$.".');

const CommandUsage = z.strictObject({
  'input-tokens': Finder.optional(),
  'output-tokens': Finder.optional(),
  usd: Finder.optional(),
});

const Fallback = z.union(
  [z.enum(RUNTIMES), z.strictObject({ runtime: z.enum(RUNTIMES), model: z.string().min(1).optional() })],
  `must be one of ${RUNTIMES.join(', ')}, or a map with runtime and model`,
);

export const Agent = z.strictObject({
  runtime: z.enum(RUNTIMES).default(RUNTIME_DEFAULT),
  description: z.string().optional(),
  model: z.string().optional(),
  prompt: z.string().optional().describe('Who the agent is; goes before the prompt of each task.'),
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)], 'must be a command or a list of its words')
    .optional()
    .describe(
      'For cli and acp: what to start. A string goes to the shell, a list is started as it is; in the list of a cli agent the words {prompt}, {prompt-file} and {model} are replaced.',
    ),
  usage: CommandUsage.optional().describe('For cli: where its output says what it used.'),
  turns: z.int().positive().optional(),
  fallback: z
    .array(Fallback)
    .optional()
    .describe(
      'Runtimes to go on with where the first fails, each with a model or without; of the same family.',
    ),
  mcp: z.record(name, McpServer).optional().describe('Tool servers that the agent may use.'),
  scope: Scope.optional(),
  limits: Limits.optional(),
  budget: Budget.optional(),
});

export const WorkspaceOptions = z.union(
  [
    z.literal('none'),
    z.strictObject({
      copy: z
        .array(z.string().min(1))
        .optional()
        .describe('Untracked files and folders every workspace needs, such as node_modules.'),
      setup: z.string().min(1).optional().describe('A command run once per base, such as npm ci.'),
      network: z.array(z.string()).optional().describe('Hosts the setup command may reach.'),
    }),
  ],
  'must be none or a map with copy, setup and network',
);

export const Retry = z.strictObject({
  attempts: z.int().min(1).max(100).describe('How many attempts in all.'),
  backoff: Duration.default('1s').describe('The first wait; it doubles each time, up to ten minutes.'),
});

const OnConflict = z
  .string()
  .regex(/^(fail|ours|theirs|agent:[A-Za-z_][A-Za-z0-9_-]*)$/, 'must be fail, ours, theirs or agent:<name>');

const OnFailure = z.enum(['stop', 'continue']);

const need = z
  .string()
  .regex(
    /^(api:)?[A-Za-z_][A-Za-z0-9_-]*$/,
    'must be the name of a task, or api:<name> for something a task publishes',
  );

const RACE_MESSAGE = `must be a number of candidates from 2 to ${CANDIDATES_MAX}, or a list of as many agents`;
const Race = z.union(
  [z.int().min(2).max(CANDIDATES_MAX), z.array(name).min(2).max(CANDIDATES_MAX)],
  RACE_MESSAGE,
);

const Judge = z.union(
  [
    z.literal('person'),
    z.strictObject({
      check: z.string().min(1).describe('A command; the last number that it prints is the score.'),
      best: z.enum(['highest', 'lowest']).default('highest'),
    }),
    z.strictObject({ agent: name, prompt: z.string().optional() }),
  ],
  'must be person, a map with check (and best), or a map with agent (and prompt)',
);

export const Task = z.strictObject({
  description: z.string().optional(),
  needs: z.array(need).default([]),
  if: z.string().optional().describe('A CEL expression; false skips the task.'),
  'for-each': z
    .union([z.array(z.json()), z.string()], 'must be a list or an expression that gives one')
    .optional(),
  agent: z.union([name, Agent], 'must be the name of an agent or a map with its fields').optional(),
  prompt: z.string().optional(),
  run: z.string().min(1).optional().describe('A plain shell command.'),
  uses: z.string().min(1).optional().describe('Another workflow file, run as one task.'),
  with: z.record(z.string(), z.json()).optional().describe('Inputs for the workflow named by uses.'),
  approve: z
    .union(
      [
        z.string().min(1),
        z.strictObject({
          question: z.string().min(1),
          timeout: Timeout.optional(),
          choices: z
            .array(z.string().min(1).max(LABEL_CHARS_MAX))
            .min(2)
            .max(CHOICES_MAX)
            .optional()
            .describe('In place of yes and no; the one that is chosen is the answer.'),
          default: z
            .string()
            .optional()
            .describe('The answer when the timeout is over: yes, no (the default) or one of the choices.'),
        }),
      ],
      'must be a question or a map with question, choices, timeout and default',
    )
    .optional(),
  handoff: z.array(name).min(1).optional(),
  rounds: z.int().positive().optional(),
  race: Race.optional().describe('Tries the task several times at once; one candidate is merged.'),
  judge: Judge.optional().describe('Picks a candidate of a race; without it the first that succeeds.'),
  continuous: z
    .strictObject({
      every: Timeout.optional(),
      on: z.array(z.enum(['task-completed', 'task-failed', 'publication'])).optional(),
    })
    .optional(),
  finalize: z.string().optional(),
  publishes: z.array(name).optional(),
  summarize: name
    .optional()
    .describe(
      'The agent that sums up what is too long for the prompt; without it, the prompt gets an outline.',
    ),
  expand: z.boolean().optional().describe('The output of this task is further tasks.'),
  replan: z
    .int()
    .min(1)
    .max(REPLANS_MAX)
    .optional()
    .describe('How often the planner is asked for other tasks where some of its plan failed.'),
  output: z
    .record(z.string(), z.json())
    .optional()
    .describe('A JSON Schema that the output of the task must satisfy.'),
  check: z.string().min(1).optional().describe('A command; its failure goes back to the agent.'),
  attempts: z.int().min(1).max(100).default(1).describe('How often the agent may try until check passes.'),
  retry: Retry.optional(),
  timeout: Timeout.optional(),
  artifacts: z.array(z.string().min(1)).optional(),
  workspace: WorkspaceOptions.optional(),
  scope: Scope.optional().describe('Each field given here replaces that of the agent.'),
  limits: Limits.optional().describe('Each field given here replaces that of the agent.'),
  env: z.record(z.string(), z.string()).optional(),
  'on-conflict': OnConflict.optional(),
  'on-failure': OnFailure.optional(),
  budget: Budget.optional(),
});

export const Input = z.strictObject({
  type: z.enum(['string', 'number', 'boolean']).default('string'),
  description: z.string().optional(),
  required: z.boolean().optional(),
  default: z.union([z.string(), z.number(), z.boolean()], 'must be text, a number, true or false').optional(),
  options: z
    .array(z.union([z.string(), z.number()], 'must be text or a number'))
    .min(1)
    .optional(),
});

export const Tasks = z.record(name, Task);

/** Whether to go on where commands cannot be fenced in. */
export const IsolationDemand = z.enum(['required', 'best-effort']);

/** What tasks and agents have that say nothing themselves; without what makes a task or an agent the one it is. */
export const Defaults = z.strictObject({
  task: Task.pick({
    agent: true,
    check: true,
    attempts: true,
    retry: true,
    timeout: true,
    artifacts: true,
    workspace: true,
    scope: true,
    limits: true,
    env: true,
    summarize: true,
    'on-conflict': true,
    'on-failure': true,
    budget: true,
  }).optional(),
  agent: Agent.omit({ description: true }).optional(),
});

export const WorkflowFile = z.strictObject({
  name: name.describe('Runs and their branches are named after it.'),
  description: z.string().optional(),
  inputs: z.record(name, Input).default({}),
  budget: Budget.optional(),
  concurrency: z.int().min(1).max(1000).default(4),
  isolation: IsolationDemand.default('best-effort'),
  workspace: WorkspaceOptions.optional(),
  'on-conflict': OnConflict.default('fail'),
  merge: z
    .strictObject({
      check: z
        .string()
        .min(1)
        .describe('A command that bosun merge runs on the merged files; if it fails, nothing lands.'),
    })
    .optional(),
  'on-failure': OnFailure.default('stop'),
  hooks: z
    .array(WorkflowHook)
    .max(HOOKS_MAX)
    .optional()
    .describe('Commands that run on the machine itself, with no fence, around attempts; they need trust.'),
  defaults: Defaults.optional().describe(
    'Fields of tasks and agents that do not give them; each is replaced as a whole.',
  ),
  agents: z.record(name, Agent).default({}),
  tasks: Tasks.describe('What to do; a task starts when its own needs are met.'),
});

export type IsolationDemand = z.output<typeof IsolationDemand>;
export type Budget = z.output<typeof Budget>;
export type { RuntimeName } from './runtimes.ts';
export type Scope = z.output<typeof Scope>;
export type Limits = z.output<typeof Limits>;
export type Agent = z.output<typeof Agent>;
export type WorkspaceOptions = z.output<typeof WorkspaceOptions>;
export type Retry = z.output<typeof Retry>;
export type Task = z.output<typeof Task>;
export type Tasks = z.output<typeof Tasks>;
export type Input = z.output<typeof Input>;

/** What a person writes. */
export type WorkflowSource = z.input<typeof WorkflowFile>;
export type AgentSource = z.input<typeof Agent>;

/**
 * What the engine runs: the file with its defaults filled in, and the workflows it uses, by the path
 * written in `uses`. It is plain JSON, so that a journal holds all that is needed to resume.
 */
export type Workflow = z.output<typeof WorkflowFile> & { nested?: Record<string, Workflow> };

export type Json = z.output<ReturnType<typeof z.json>>;

function isFinder(text: string): boolean {
  if (text.startsWith('$.')) return /^\$(\.[\w-]+|\[\d+\])+$/.test(text);
  try {
    // Whatever it is, an empty text satisfies it or nothing: so its groups can be counted.
    return new RegExp(`${text}|`).exec('')?.length === 2;
  } catch {
    return false;
  }
}
