/** What a run and its tasks look like from outside: the views that every door shows. */
import type { BudgetMark } from './event.ts';
import type { LandedAs } from './landed.ts';
import type { RUN_STATES, SHOWN_RUN_STATES, TASK_STATES } from './run-states.ts';
import type { Parent } from './run-origin.ts';
import type { Service } from './services.ts';
import type { Spending } from './model.ts';
import type { Question } from './question.ts';
import type { BudgetUnit } from './budget-units.ts';
import type { RuntimeName } from './workflow.ts';

/**
 *            needs met          slot free            outcome            changes on the branch
 * waiting ─────────────▶ ready ──────────▶ running ───────────▶ merging ─────────▶ done
 *    │                     ▲                  │  └─▶ delayed ─┐     │
 *    │ if is false,        └──────────────────┼──────────────┘      └─▶ failed
 *    ▼ a need failed                          ├─▶ failed
 * skipped          asking (approve)           └─▶ cancelled       expanded (waits for its own tasks)
 */
export type TaskState = (typeof TASK_STATES)[number];

export type RunState = (typeof RUN_STATES)[number];

/** It has not ended. */
export function isTaskOver({ state }: Pick<TaskView, 'state'>): boolean {
  return ['done', 'failed', 'skipped', 'cancelled'].includes(state);
}

export function isOpen({ state }: { state: ShownRunState }): boolean {
  return state === 'running' || state === 'paused' || state === 'cancelling' || state === 'pending';
}

/**
 * What `status` says: `interrupted` is a run that no engine drives although it has not ended, `paused` one that an engine
 * drives and a person has paused, `pending` one that waits for the first engine that looks.
 */
export type ShownRunState = (typeof SHOWN_RUN_STATES)[number];

/** Who paused it, and when. */
export interface Pause {
  by: string;
  sinceMs: number;
}

/** Of a task. */
export interface TaskPause extends Pause {
  /** The task around it that was paused; absent where it was paused by itself. */
  with?: string;
}

/** Why something failed; each has its own line in a report. */
export type FailReason =
  | 'exit' // the command ended with another code than 0, or by a signal
  | 'agent' // the agent, or the model behind it, could not go on
  | 'timeout'
  | 'limit' // it used more of the machine, or more turns, than it may
  | 'check' // the check command failed
  | 'output' // the output does not satisfy its schema
  | 'conflict' // the changes do not merge
  | 'rejected' // a person said no
  | 'expression'
  | 'setup' // the workspace could not be made
  | 'collect' // the changes could not be collected
  | 'start' // the command could not be started
  | 'expand' // the output is not a set of tasks
  | 'budget' // the money is spent
  | 'judge' // the judge of a race picked nobody
  | 'tasks' // a task within failed
  | 'vetoed'; // a hook did not let the attempt start

/** What is said of a task that was left out since another failed. */
export const LEFT_OUT = 'another task failed and the workflow stops on failure';

/** How an attempt or a task ended. Values, not exceptions. */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'failed'; reason: FailReason; message: string; exitCode?: number; signal?: string }
  | { kind: 'cancelled' }
  /** Not by its own doing: it is made again, and counts for nothing. `because` where its engine did not die with it. */
  | { kind: 'lost'; because?: string };

export interface ChangedFile {
  path: string;
  change: 'added' | 'modified' | 'deleted';
}

/** What an attempt left behind. */
export interface Collected {
  /** What is merged and gone on from; the commit the attempt started from where nothing changed. */
  commit: string;
  changed: ChangedFile[];
  changedCount: number;
  /** Entries that no commit can hold (sockets, devices, nested repositories), as `path: why`. */
  refused: string[];
  /** What the scope did not allow, or git should not obey: left out of `commit`, kept in a snapshot. Absent where there is nothing. */
  outside?: LeftOut;
  artifacts: string[];
}

export interface LeftOut {
  /** The commit that has all that the attempt changed. */
  snapshot: string;
  files: (ChangedFile & { why: string })[];
  count: number;
}

export interface Conflict {
  files: string[];
  /** The tasks whose commits on the branch touch the same files. */
  with: string[];
}

export interface RunView {
  id: string;
  name: string;
  /** Of a run of one task: how its prompt or its command begins. */
  about?: string;
  state: RunState;
  createdAtMs: number;
  endedAtMs?: number;
  /** Of the time since it was created, how long nobody was at work: it had ended, or its engine, or the machine slept. */
  idleMs?: number;
  baseCommit: string;
  headCommit: string;
  branch: string;
  counts: Partial<Record<TaskState, number>>;
  /** Of the tasks that count as running, how many wait for a person's answer. */
  askingCount?: number;
  /** Tasks that stand for others, which no count has, and that wait for a person's answer themselves: races. */
  askingGroups?: number;
  lastSeq: number;
  questions: QuestionView[];
  /** It waits for an engine that looks, and nothing of it has begun. */
  pending?: { by: string };
  /** Its agent is a child of this task of another run. */
  parent?: Parent;
  /** A person has paused all of it; since `idleSinceMs` nothing of it is at work. */
  paused?: Pause & { idleSinceMs?: number };
  /** Absent where no model was used. */
  spending?: Spending;
  /** What the whole run may spend. */
  limits?: Partial<Record<BudgetUnit, number>>;
  /** Why it was cancelled, where no person did it. */
  because?: 'budget';
  /** Where that is the budget: which one, and what did not fit. */
  short?: BudgetMark;
  /** Budgets that were spent and that the run went past, since nobody was to be asked; the last ones. */
  overruns?: Overrun[];
  /** The last merge into the user's branch, as long as it was not undone; `head` says how much of the run that was. */
  landed?: LandedAs & { atMs: number };
  /** Providers that had to be waited for, until when; those whose time has come may still be among them. */
  waits?: { provider: string; untilMs: number; why: string }[];
}

/** A budget that was spent, and raised without a person. */
export interface Overrun extends Omit<BudgetMark, 'next'> {
  raisedTo: number;
  atMs: number;
}

/** One that waits for a person's answer does not run. */
export function shownCounts({
  counts,
  askingCount = 0,
  askingGroups = 0,
}: Pick<RunView, 'counts' | 'askingCount' | 'askingGroups'>): RunView['counts'] {
  const { running = 0, asking = 0, ...others } = counts;
  const all = asking + askingCount + askingGroups;
  const left = running - askingCount;
  return { ...others, ...(left > 0 && { running: left }), ...(all > 0 && { asking: all }) };
}

/** What an attempt waits for that is not its own work. */
export interface Held {
  by: 'question' | 'budget' | 'provider' | 'turn' | 'slot' | 'pause' | 'hook';
  text: string;
  /** Of one that waits for a provider, or for its turn to be sent there. */
  provider?: string;
  sinceMs: number;
}

/** How far an agent says it is. */
export interface Progress {
  text: string;
  /** From 0 to 100. */
  percent?: number;
}

export interface TaskView {
  id: string;
  /** What people call it, such as `review[security]`; absent where that is its id. */
  label?: string;
  state: TaskState;
  attempt: number;
  /** Sorts tasks as they are shown: as written, those within a task right after it. */
  order: string;
  parent?: string;
  agent?: string;
  startedAtMs?: number;
  endedAtMs?: number;
  /** How long its attempts were at work that have ended, and since when one is. */
  workedMs?: number;
  attemptAtMs?: number;
  message?: string;
  lastLine?: string;
  commit?: string;
  changedCount?: number;
  /** Files that the last attempt changed although its scope did not allow it; absent where there are none. */
  outsideCount?: number;
  /** While it runs, and waits for something. */
  held?: Held;
  /** A person has paused it, or a task that it belongs to; see the run for a pause of all. */
  paused?: TaskPause;
  /** While it runs, and its agent said how far it is. */
  progress?: Progress;
  /** Of one that stands for others: how many of them have ended. */
  /** Ports of its sandbox that others reach by name. */
  services?: Service[];
  within?: { ended: number; all: number };
  /** Of one that failed and is tried again: when, which attempt that is, and how many there may be. */
  retry?: { atMs: number; attempt: number; attemptsMax: number };
  /** Of a race: the id of the candidate that was picked. */
  picked?: string;
  /** False while it runs something that takes no words: a plain command, an agent that is one. */
  steerable?: false;
  /** In place of the agent's own runtime. */
  runtime?: RuntimeName;
  /** Absent where no model was used. */
  spending?: Spending;
}

/** What a question is about: a step of the workflow, more files, a tool, more money, or whatever an agent wants to know. */
export const QUESTION_KINDS = ['approve', 'access', 'tool', 'budget', 'question'] as const;

/** As it was put to people. */
export interface KeptQuestion extends Question {
  id: string;
  task: string;
  askedAtMs: number;
  timeoutMs?: number;
  /** Of a request for access: what may be changed with a yes, and the tasks that own it; some of them where there are many. */
  globs?: string[];
  owners?: string[];
  /** Of a request for access: how the diff begins that says what is wanted. */
  diff?: string;
}

export interface QuestionView extends Omit<KeptQuestion, 'owners' | 'tool'> {
  kind: (typeof QUESTION_KINDS)[number];
  /** Of one that an attempt asks. */
  attempt?: number;
  /** What people call the task; absent where that is its id. */
  label?: string;
  /** When nobody waits any longer; later, where it is paused meanwhile. */
  deadlineAtMs?: number;
  owners?: { task: string; label?: string; state: TaskState }[];
  /** What is spent, and what a yes raises it to. */
  budget?: BudgetMark & { raiseTo: number };
  /** Since when no time passes for it: its task or the run is paused. */
  pausedSinceMs?: number;
}
