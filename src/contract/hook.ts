/** Hooks: when they are called, what they are called, what they are given and what they may answer. */
import type { FailReason, ChangedFile, Outcome, RunState, TaskState } from './run.ts';
import type { Json } from './workflow.ts';

/** As they are written in workflows and configurations, with what a program calls them. */
export const HOOK_MOMENTS = {
  'before-attempt': 'beforeAttempt',
  'after-attempt': 'afterAttempt',
  error: 'error',
  question: 'question',
  'run-ended': 'runEnded',
} as const;

/** Of a workflow, of a configuration, of a program. */
export const HOOKS_MAX = 50;

/** For people; one without a name of its own is called by its place. */
export function spellHook(name: string): string {
  return /^(hook|notify)[ -]\d/.test(name) ? name : `hook ${name}`;
}

export type HookMoment = keyof typeof HOOK_MOMENTS;
export type HookName = (typeof HOOK_MOMENTS)[HookMoment];

/** When a notification is sent, with the moment of a hook that it stands for. */
export const NOTICE_MOMENTS = { ended: 'run-ended', 'needs-person': 'question' } as const;
export type NoticeMoment = keyof typeof NOTICE_MOMENTS;

export type HookFact =
  /** A hook before the attempt had something to say: it must not start, or it gets more. Of variables only the names. */
  | {
      type: 'attempt.hooked';
      task: string;
      attempt: number;
      hook: string;
      veto?: string;
      env?: string[];
      prompt?: string;
    }
  /** A hook, webhook or notification did not do what it was to do; that changes nothing. `about`: a task or a question. `seq`: as in `hook.told`. */
  | { type: 'hook.failed'; hook: string; moment: HookMoment; about?: string; why: string; seq?: number }
  /** From here on these webhooks are told, until the next such event says otherwise. */
  | {
      type: 'hooks.armed';
      webhooks: { hook: string; on: HookMoment[] }[];
      /** A seal of the user whose bosun wrote it; without, they are never sent what they were not told. */
      sealed?: string;
    }
  /** A webhook took what it was told of the event with this `seq`. */
  | { type: 'hook.told'; hook: string; moment: HookMoment; seq: number };

/** Where it happens. */
interface OfRun {
  /** When, as ISO 8601. */
  at: string;
  run: string;
  /** The name of the workflow. */
  workflow: string;
  /** The directory of the repository. */
  repository: string;
}

interface OfAttempt extends OfRun {
  task: string;
  /** What people call the task; absent where that is its id. */
  label?: string;
  attempt: number;
  /** The name of the agent; absent for a plain command, and for an agent that is written in its task. */
  agent?: string;
  /** Absent for a plain command. */
  runtime?: string;
  model?: string;
}

/** An attempt is about to start. */
export interface BeforeAttempt extends OfAttempt {
  type: 'before-attempt';
  /** `resolve`: the agent is to settle a conflict. */
  purpose: 'work' | 'resolve';
  /** What the agent is asked to do, or the command; its beginning where that is long. */
  prompt: string;
  /** Why the attempt before was not enough. */
  feedback?: string;
}

/** An attempt has ended, and this is in the journal. */
export interface AfterAttempt extends OfAttempt {
  type: 'after-attempt';
  outcome: Outcome;
  durationMs: number;
  /** The first of the files that it changed, and how many there are. */
  changed: ChangedFile[];
  changedCount: number;
  /** The commit that has its work, in the git directory of bosun. */
  commit?: string;
  /** What the task gave; absent where that is nothing, or long. */
  output?: Json;
}

/** An attempt failed or was lost, or a task failed without one. */
export interface HookError extends OfRun {
  type: 'error';
  task: string;
  label?: string;
  /** Absent where no attempt is to blame. */
  attempt?: number;
  reason: FailReason | 'lost';
  message: string;
}

/** A person is asked something. */
export interface HookQuestion extends OfRun {
  type: 'question';
  /** For `bosun answer`. */
  id: string;
  task: string;
  label?: string;
  text: string;
  choices?: string[];
  /** What counts if nobody answers in time; null where that is nothing. */
  default: string | null;
  timeoutMs?: number;
}

/** The run has ended, and its report is written. */
export interface RunEnded extends OfRun {
  type: 'run-ended';
  state: RunState;
  because?: 'budget';
  /** How many tasks ended how. */
  counts: Partial<Record<TaskState, number>>;
  durationMs: number;
  /** What models cost, as far as it is known; absent where none was used. */
  usd?: number;
  branch: string;
}

export type HookInput = BeforeAttempt | AfterAttempt | HookError | HookQuestion | RunEnded;
type InputAt<M extends HookMoment> = Extract<HookInput, { type: M }>;

/** What a hook before an attempt may say; nothing means: go on. */
export interface HookAnswer {
  /** Why the attempt must not start. */
  veto?: string;
  /** Variables for the attempt, in memory alone: a journal has their names. */
  env?: Record<string, string>;
  /** What the agent is told on top of its prompt; a plain command has no use for it. */
  prompt?: string;
}

type MomentOf<N extends HookName> = {
  [M in HookMoment]: (typeof HOOK_MOMENTS)[M] extends N ? M : never;
}[HookMoment];

/** A hook of a program. Before an attempt, `false` is a veto without a reason. */
export type HookFunction<N extends HookName = HookName> = (
  input: InputAt<MomentOf<N>>,
  signal: AbortSignal,
) => N extends 'beforeAttempt'
  ? HookAnswer | boolean | undefined | void | Promise<HookAnswer | boolean | undefined | void>
  : unknown;

export interface HookOptions {
  /** What events and messages call it. */
  name?: string;
  /** How long it may take; 30 s if not given. */
  timeoutMs?: number;
}
