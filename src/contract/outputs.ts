/**
 * What operations give, as schemas: programs behind HTTP and MCP are told by them what to expect, and tests hold what
 * real runs give against them. Types that other parts know too are written elsewhere; the compiler holds both together.
 */
import { z } from 'zod';
import { eventProblem } from './check-event.ts';
import { EVENT_FORMAT, type Event, type Recorded } from './event.ts';
import type { Isolation } from './isolation.ts';
import type { Spending } from './model.ts';
import type { QuestionView, RunView, TaskView } from './run.ts';
import { SharedBudgets } from './overview-schema.ts';
import { limits, ShownRun, ShownTask, spending, type question, type Run } from './run-schema.ts';
import {
  count,
  flag,
  json,
  opt,
  pause,
  runState,
  runtime,
  shownRunState,
  text,
  texts,
} from './schema-parts.ts';
import { TEMPLATE_NAMES } from './templates.ts';
import type { Workflow } from './workflow.ts';
import { overrun } from './mcp-outputs.ts';

export { ConfigSet, Configuration, ConfigUnset } from './config-outputs.ts';
export { Merged, MergePreview, MergeUndone } from './merge-outputs.ts';
export { McpEntries, Started } from './mcp-outputs.ts';
export { Hooks } from './hook-output.ts';
export { Agents, QueuedRun, QueuedTask, Spawned, Worked, WorkedOn } from './queue-schema.ts';
export { Artifact, Artifacts, ShownAttempts } from './task-outputs.ts';
export { Messages, Report } from './report-schema.ts';
export { Overview, SharedBudgets, type SharedBudgetView } from './overview-schema.ts';
export { Run, Runs, ShownRun, ShownRuns, ShownTask } from './run-schema.ts';
export {
  Branch,
  Cloned,
  Committed,
  Fetched,
  GitStatus,
  PullRequest,
  Pushed,
  PushedBranch,
} from './remote-outputs.ts';
export { Forecast, Totals } from './totals-schema.ts';
export {
  Execution,
  ExecutionFacts,
  Executions,
  ExecutionWorkspace,
  ExecutionWorkspaces,
  NewToken,
  ServedRepositories,
  ServedRuns,
  ServedRepository,
  Template,
  Templates,
  AccessToken,
  AccessTokens,
  Worker,
  Workers,
  WorkItem,
  WorkItems,
} from './serving-schema.ts';

export const Status = z.strictObject({
  run: ShownRun,
  /** In the order in which they are written; at most `limit`, those that need attention first where there are more. */
  tasks: z.array(ShownTask),
  taskCount: count,
  /** What was done about a merge that was cut off. */
  recovered: opt(text),
});
export type Status = z.output<typeof Status>;

const recorded = z.strictObject({
  seq: count,
  atMs: count,
  run: text,
  event: z.custom<Event>((value) => eventProblem(value, EVENT_FORMAT) === undefined, 'must be an event'),
  format: opt(count),
});
/** The events of a run, some at a time. */
export const Events = z.array(recorded);

/** Events of all runs, each with where whoever has seen it has read to. */
export const FollowedEvents = z.array(recorded.extend({ cursor: text }));
export type FollowedEvent = Recorded & { cursor: string };
/** Where there was nothing more to read. */
export const ReadUpTo = z.strictObject({ cursor: text });
export type ReadUpTo = z.output<typeof ReadUpTo>;

/** How a run stood when there was nothing more to read. */
export const ReadTo = z.strictObject({ run: text, state: shownRunState });
export type ReadTo = z.output<typeof ReadTo>;

/** A run that this process drives; in a program it can also be waited for, answered, steered and cancelled. */
export const StartedRun = z.object({
  id: text,
  /** What holds its commands. */
  isolation: z.strictObject({
    kind: z.enum(['fences', 'macos', 'namespaces', 'none']),
    uid: opt(count),
    limits: opt(
      z.strictObject({
        memory: z.enum(['cgroup', 'watchdog']),
        processes: z.enum(['cgroup', 'prlimit']),
        cpu: z.enum(['cgroup', 'watchdog']),
        disk: z.literal('watchdog'),
        'open files': z.literal('prlimit'),
      }),
    ),
    lacks: opt(text),
    notes: texts,
  }),
  /** What a person should know before it starts. */
  notes: texts,
});

export const Answered = z.strictObject({
  run: text,
  question: text,
  text,
  /** What counts: the words of the choice where its number was given. */
  answer: text,
  /** The run is driven and has taken the answer; else it gets it once somebody resumes it. */
  isTaken: flag,
});
export type Answered = z.output<typeof Answered>;

export const Paused = z.strictObject({
  run: text,
  /** Absent where all of the run is paused. */
  task: opt(text),
  paused: z.strictObject({ ...pause, with: opt(text) }),
  /** It was paused before, and this changed nothing. */
  isAlready: flag,
  /** What becomes of the attempts that were at work. */
  attempts: z.array(z.strictObject({ task: text, how: z.enum(['stop', 'hold', 'finish']), because: text })),
});
export type Paused = z.output<typeof Paused>;

export const Unpaused = z.strictObject({
  run: text,
  /** Absent where all of the run is meant. */
  task: opt(text),
  /** False where nobody drives the run, or nothing of it was paused: then nothing changed. */
  isContinued: flag,
  /** The whole run, or a task around this one, is still paused, and so this task is. */
  isStillPaused: flag,
  /** Where it is a task around this one. */
  pausedWith: opt(text),
});
export type Unpaused = z.output<typeof Unpaused>;

export const Steered = z.strictObject({ run: text });

/** A run that another process drives; a program can also speak to it, each time with another operation. */
export const AttachedRun = z.object({ id: text });

const Account = z.strictObject({ account: text, limits, spending });
export type AccountView = z.output<typeof Account>;

export const Budgets = z.strictObject({
  run: text,
  accounts: z.array(Account),
  shared: SharedBudgets,
  /** Budgets that the run went past, with a warning; the last ones. */
  overruns: z.array(overrun),
});
export type Budgets = z.output<typeof Budgets>;

/** `isLive`: it takes effect at once, since the run is at work. */
export const BudgetSet = z.strictObject({
  run: text,
  account: text,
  limits,
  isLive: flag,
  /** Of limits that are below what is spent already: what is. */
  spent: opt(limits),
});
export type BudgetSet = z.output<typeof BudgetSet>;

export const Changes = z.strictObject({
  from: text,
  to: text,
  /** The numbers of lines are null for a binary file. */
  files: z.array(z.strictObject({ path: text, added: z.nullable(count), deleted: z.nullable(count) })),
});
export type Changes = z.output<typeof Changes>;

/** `task`: the one task that it has. */
export const StartedTask = StartedRun.extend({ task: text });

/** The same, started for the review comments of a pull request. */
export const FeedbackRun = StartedTask.extend({ url: text, branch: text, comments: count });

/** What a task gave: the agent's answer, or what a command printed; absent where it gave nothing. */
export const Given = z.strictObject({ output: opt(json) });

/** Those behind a task, or in some states; see `Status` for what needs attention. */
export const ShownTasks = z.array(ShownTask);

export const File = z.strictObject({ file: text });

export const Checked = z.strictObject({
  /** The path as a person would write it, from where they are. */
  file: text,
  workflow: z.custom<Workflow>((value) => typeof value === 'object' && value !== null, 'must be a workflow'),
  warnings: texts,
  /** What the repository's configuration says in vain; a run says it too. */
  ignored: texts,
  /** Which files belong to which tasks, as written; empty where no task declares a write scope. */
  owners: z.array(z.strictObject({ pattern: text, task: text, agent: text, shared: flag })),
  /** What it asks for beyond the repository, a line each. */
  asks: texts,
  /** Of that, what nobody has agreed to yet. */
  fresh: texts,
});

/** By where they are; those that only look like one may still have problems. */
export const WorkflowFiles = z.strictObject({
  files: z.array(z.strictObject({ file: text, name: opt(text) })),
  /** There may be more. */
  isCut: flag,
});
export type WorkflowFiles = z.output<typeof WorkflowFiles>;

export const Initialised = z.strictObject({
  file: text,
  /** False where a workflow was there already. */
  written: flag,
  /** Whoever starts with bosun in a repository of their own is not asked about its workflows. */
  trusted: flag,
  /** What was written, with which agent and test command. */
  template: opt(z.enum(TEMPLATE_NAMES)),
  agent: opt(runtime),
  check: opt(text),
  /** Runtimes whose programs are here. */
  installed: opt(z.array(runtime)),
  /** Inputs that a run of it must be given. */
  needs: opt(texts),
  /** The command that brings the dependencies that its tests need, where they are not here yet. */
  install: opt(text),
  /** What has to be made before a run can start. */
  lacks: opt(z.enum(['repository', 'commit'])),
});
export type Initialised = z.output<typeof Initialised>;

export const Findings = z.array(
  z.strictObject({
    name: text,
    level: z.enum(['ok', 'warn', 'fail', 'none']),
    found: text,
    advice: opt(text),
    runtime: opt(
      z.strictObject({
        isInstalled: flag,
        program: opt(text),
        version: opt(text),
        sdk: opt(text),
        login: opt(text),
        keys: texts,
      }),
    ),
  }),
);

/** What a workflow asks for beyond its repository, and what of that nobody agreed to yet. */
export const AskedFor = z.strictObject({ source: text, asked: texts, fresh: texts });

/** The repository, by its git directory. */
export const Directory = z.strictObject({ directory: text });

export const TrustedRepositories = z.array(
  z.strictObject({ directory: text, everything: flag, whileAlone: opt(z.literal(true)), asked: texts }),
);

export const WorkspaceList = z.array(z.strictObject({ name: text, createdAtMs: count, bytes: count }));

export const Cleaned = z.strictObject({
  removed: texts,
  /** Not removed, and why. */
  kept: z.array(z.strictObject({ name: text, why: text })),
});
export type Cleaned = z.output<typeof Cleaned>;

/** Null where it was not to be done. */
export const Pruned = z.nullable(
  z.strictObject({
    runs: z.array(z.strictObject({ id: text, state: runState, endedAtMs: count })),
    /** What would be old enough, and why it stays. */
    kept: z.array(z.strictObject({ id: text, why: text })),
    freedBytes: count,
    leftBytes: count,
    /** False where other runs are at work: the next prune frees the rest. */
    isSwept: flag,
  }),
);

export const Verdict = z.strictObject({
  row: text,
  holds: z.enum(['yes', 'partly', 'no', 'cannot', 'untried']),
  fact: text,
  about: text,
  must: flag,
});
export const Conformance = z.strictObject({
  runtime,
  command: opt(text),
  version: opt(text),
  bosun: text,
  platform: text,
  date: text,
  tookMs: count,
  isolation: text,
  rows: z.array(Verdict),
});

/** In a program it can also be closed, and says when the service is gone. */
export const Opened = z.object({ run: text, service: text, task: text, port: count, url: text });

/** In a program it can also be closed. */
export const Server = z.object({ url: text });

/** Without headers and body: they hold the agent's key and its whole conversation. */
export const ServerRequest = z.object({
  n: count,
  atMs: count,
  method: text,
  path: text,
  rule: text,
  status: count,
});

/** One that differs from the type that other parts know is an error here, whichever of the two changed. */
type Same<A, B> = [A, B] extends [B, A]
  ? [keyof A, keyof B] extends [keyof B, keyof A]
    ? true
    : false
  : false;
true satisfies Same<z.output<typeof Run>, RunView>;
true satisfies Same<z.output<typeof ShownTask>, TaskView>;
true satisfies Same<z.output<typeof Events>, Recorded[]>;
true satisfies Same<z.output<typeof question>, QuestionView>;
true satisfies Same<z.output<typeof spending>, Spending>;
true satisfies Same<z.output<typeof StartedRun>['isolation'], Isolation>;
