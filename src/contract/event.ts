/**
 * The journal's events. Facts come from the world (an attempt ended, a person answered); decisions come from
 * `decide` and are acted on once they are in the journal. State is a fold over both.
 */
import type { AccessFact, AccessWord } from './access.ts';
import type { ChildDecision, ChildFact } from './child.ts';
import type { AgentError, AgentEvent, ModelUse } from './model.ts';
import type { BudgetUnit } from './budget-units.ts';
import type { RuntimeName } from './workflow.ts';
import type { HookFact } from './hook.ts';
import type { Isolation } from './isolation.ts';
import type { LandedFact } from './landed.ts';
import type { MessageRefusal } from './message.ts';
import type { Answer, Question } from './question.ts';
import type { Collected, Conflict, Held, Outcome } from './run.ts';
import type { Parent, Queued } from './run-origin.ts';
import type { SummaryDecision } from './summary.ts';
import type { Json, Tasks, Workflow } from './workflow.ts';

export type Fact =
  | {
      type: 'run.created';
      id: string;
      workflow: Workflow;
      /** Where the workflow came from, for people. */
      source: string;
      inputs: Record<string, Json>;
      /** The commit all work starts from. */
      base: string;
      dirty: boolean;
      overBudget?: 'warn';
      /** Nobody drives it yet: the next engine that looks does. */
      queued?: Queued;
      /** The task of another run that had ended, and whose child its one agent is. */
      parent?: Parent;
    }
  /** An engine begins to drive the run: what holds its commands. */
  | ({ type: 'run.isolation' } & Isolation)
  | { type: 'run.resumed'; by: string }
  | { type: 'run.cancelling'; mode: 'graceful' | 'now'; by: string }
  /** `feedback`: what its next attempt is told, why the last one was not enough. */
  | { type: 'task.retried'; task: string; by: string; feedback?: string }
  /** A person pauses all of the run, or a task and those within it: no new attempts, no new requests to models. */
  | { type: 'run.paused'; by: string }
  | { type: 'task.paused'; task: string; by: string }
  /** A person lets it go on: the run with all its tasks, or one task. */
  | { type: 'run.unpaused'; by: string }
  | { type: 'task.unpaused'; task: string; by: string }
  | { type: 'timer.fired'; task: string; attempt: number }
  /** A person answered, or the time was up. */
  | ({ type: 'question.answered'; id: string; by: string; note?: string } & Answer)
  | LandedFact
  | ChildFact
  | AccessFact
  | { type: 'attempt.workspace'; task: string; attempt: number; workspace: string; base: string }
  | {
      type: 'attempt.output';
      task: string;
      attempt: number;
      stream: 'stdout' | 'stderr' | 'check' | 'setup';
      /** Exactly one of the two: base64 where the bytes are no UTF-8. */
      text?: string;
      base64?: string;
      droppedBytes?: number;
      /** Left out because of what the whole run has printed, not this attempt alone. */
      dropped?: 'run';
    }
  | HookFact
  /** What the agent says and does. */
  | { type: 'attempt.agent'; task: string; attempt: number; event: AgentEvent }
  /** How far the agent says it is; only the latest counts. */
  | { type: 'attempt.progress'; task: string; attempt: number; text: string; percent?: number }
  /** A model answered the agent, at this price. What is in the journal with the `note` of its request is not charged again. */
  | ({ type: 'model.used'; task: string; attempt: number; note?: string } & ModelUse)
  /** Something that a person should know of the machine. */
  | { type: 'run.noted'; text: string }
  /** The wall clock went so far without the engine: it slept, or somebody set the clock. Nobody's minutes. */
  | { type: 'clock.jumped'; ms: number }
  /** A provider has to be waited for, by all agents alike. */
  | {
      type: 'model.waiting';
      provider: string;
      delayMs: number;
      why: string;
      /** Those that are known to wait, some of them where there are many. */
      tasks?: string[];
    }
  /** The attempt waits for a person: the agent wants to do something, or money or patience are at their end. */
  | ({ type: 'attempt.asked'; task: string; attempt: number } & Ask)
  /** The attempt cannot go on by itself for now: its money is spent, its provider sends nothing, enough agents are at work. */
  | ({ type: 'attempt.held'; task: string; attempt: number } & Omit<Held, 'sinceMs'>)
  | { type: 'attempt.released'; task: string; attempt: number }
  /** Most of a budget is spent. */
  | ({ type: 'budget.warned' } & BudgetMark)
  /** A person set limits anew. */
  | { type: 'budget.set'; account: string; limits: Partial<Record<BudgetUnit, number>>; by: string }
  /** A person speaks to the running agent. */
  | { type: 'task.steered'; task: string; text: string; by: string }
  /** The agent has read this of what was said to its task: the first is 1. */
  | { type: 'attempt.steered'; task: string; attempt: number; steers: number[] }
  /** The agent gives the output of its task before its end; the last one counts. */
  | { type: 'attempt.gave'; task: string; attempt: number; output?: Json; outputRef?: ValueRef }
  /** An agent says something to others; who gets it is decided. */
  | {
      type: 'message.sent';
      task: string;
      attempt: number;
      id: string;
      /** In the sender's words: a task, an agent, `parent`, `children` or `all`. */
      to: string;
      /** A text, or any JSON. */
      body?: Json;
      bodyRef?: ValueRef;
      urgent?: true;
      /** It says that this was published, to those who work on an earlier version. */
      publication?: { name: string; version: number };
    }
  /** An attempt is given messages of its inbox, and acknowledges what it was given before. */
  | {
      type: 'message.read';
      task: string;
      attempt: number;
      ids: string[];
      acknowledged?: string[];
      /** They were put into its conversation; it did not ask for them. */
      steered?: true;
    }
  /** An agent waits, and has no answer until this happens or its time is up. */
  | { type: 'wait.began'; task: string; attempt: number; id: string; for: WaitFor; timeoutMs: number }
  | { type: 'wait.expired'; task: string; attempt: number; id: string }
  /** It waits no longer: it hung up. */
  | { type: 'wait.left'; task: string; attempt: number; id: string }
  /** An agent publishes an interface that its task announces: a value, and its files as they are now. */
  | ({ type: 'publication.made'; task: string; attempt: number } & Published)
  /** A port of the agent's sandbox has a name now, under which others reach it; and has it no longer. */
  | { type: 'service.announced'; task: string; attempt: number; name: string; port: number }
  | { type: 'service.gone'; task: string; attempt: number; name: string; why: string }
  /** A connection that the scope does not allow. */
  | { type: 'attempt.denied'; task: string; attempt: number; host: string; port: number; why: string }
  | {
      type: 'attempt.finished';
      task: string;
      attempt: number;
      outcome: Outcome;
      durationMs: number;
      collected?: Collected;
      output?: Json;
      outputRef?: ValueRef;
      /** What the next attempt is told: why this one was not enough. */
      feedback?: string;
      /** What went wrong between the agent and its model; decides on a fallback. */
      error?: AgentError;
      /** The tasks that an `expand` task wrote, checked. */
      expansion?: Tasks;
      /** Of a candidate of a race: what the judge's check printed. */
      score?: number;
      /** Of a conversation that grew too long for its model: what was said and done in it. */
      story?: string;
      storyRef?: ValueRef;
    }
  | {
      type: 'task.merged';
      task: string;
      attempt: number;
      /** The commit on the run's branch; absent where the branch had the changes already. */
      commit?: string;
      /** The head that knows the whole ancestry; merges are computed against it. */
      shadow: string;
      /** What tasks that need this one start from. */
      result: string;
      conflict?: Conflict & { resolved: string };
    }
  | {
      type: 'task.conflicted';
      task: string;
      attempt: number;
      conflict: Conflict;
      /** A commit whose files hold the conflict markers. */
      marked: string;
    };

export type Decision =
  | {
      type: 'attempt.started';
      task: string;
      attempt: number;
      purpose: 'work' | 'resolve';
      /** Commits whose merge the workspace starts from. */
      from: string[];
      /** What it starts from of tasks that are not done yet. */
      publications?: BuiltOn[];
      /** The attempt whose workspace is gone on with: a failed check goes back to the same agent. */
      continues?: number;
      /** The rendered prompt; for `run` the command, its expressions replaced by variables of `env`. */
      prompt: string;
      promptRef?: ValueRef;
      /** Why the attempt before was not enough. */
      feedback?: string;
      /** What came before, in a conversation that grew too long for its model: a new one begins with this. */
      recap?: string;
      /** The rendered environment of the task. */
      env?: Record<string, string>;
      envRef?: ValueRef;
      /** The rendered globs of its artifacts, where they hold expressions. */
      artifacts?: string[];
      /** What it can read besides its workspace, in a directory of its own. */
      files?: GivenFile[];
      /** A conversation of an earlier attempt that is gone on with; `fork` leaves that one as it is. */
      session?: { id: string; fork: boolean };
      /** In place of the agent's own runtime, which failed. */
      fallback?: { runtime: RuntimeName; model?: string; because: string };
    }
  | { type: 'attempt.stopping'; task: string; attempt: number; mode: 'graceful' | 'now' }
  /** What a pause does to an attempt that runs, and why that. */
  | { type: 'attempt.pausing'; task: string; attempt: number; how: PauseHow; because: string }
  /** Goes on with a run after `run.resumed` or `task.retried`: which of its tasks are open again, and why these. */
  | { type: 'run.reopened'; tasks: Reopened[]; because: string }
  /** Their needs are met and nothing else is asked of them: they wait for a slot. */
  | { type: 'tasks.ready'; tasks: string[] }
  /** The same for one whose `if` holds. */
  | { type: 'task.admitted'; task: string }
  /** The attempt was not enough and another one follows: why, what that goes on from and is told, and who does it. */
  | {
      type: 'task.again';
      task: string;
      /** The attempt that this follows from. */
      attempt: number;
      why: AgainReason;
      /** The same for people. */
      because: string;
      /** Where it waits for a slot: before all others, or after them. */
      place: 'first' | 'last';
      /** How long it waits before that. */
      delayMs?: number;
      /** The attempt whose workspace is gone on with. */
      continues?: number;
      feedback?: string;
      session?: { id: string; fork: boolean };
      /** In place of the runtime that failed. */
      fallback?: { runtime: RuntimeName; model?: string };
      /** Its children, where the next attempt does not know of them. */
      cancels?: string[];
    }
  /** The same after a while, from the start. */
  | {
      type: 'task.delayed';
      task: string;
      attempt: number;
      delayMs: number;
      /** Why the attempt failed, for people. */
      because: string;
      session?: { id: string; fork: boolean };
      cancels?: string[];
    }
  | {
      type: 'task.expanded';
      task: string;
      kind: 'for-each' | 'uses' | 'expand' | 'handoff' | 'race' | 'continuous';
      /** The values of a for-each. */
      items?: Json[];
      /** The names of the candidates of a race. */
      candidates?: string[];
      /** The inputs of the workflow named by `uses`. */
      inputs?: Record<string, Json>;
    }
  /** The work of a `handoff` goes to the next agent, or back to an earlier one: a task within is added for it. */
  | {
      type: 'task.handed';
      task: string;
      /** Whose turn it is: a position in `handoff`, and the name that stands there. */
      at: number;
      agent: string;
      /** The task within that sent it back, and why. */
      rejected?: { by: string; reasons: string };
    }
  /** All candidates of a `race` have ended, and its judge is asked: a task within is added for it. */
  | { type: 'task.judging'; task: string }
  /** The candidate of a `race` whose work is merged, and why this one. All others are kept, and not gone on with. */
  | { type: 'task.picked'; task: string; candidate: string; because: string }
  | SummaryDecision
  /** A `continuous` task has another round, as a task within; `final` where all other tasks have ended. */
  | { type: 'task.round'; task: string; why: RoundReason }
  /** It waits for its next round: so long from now, or on, until something happens that it listens to. */
  | { type: 'task.resting'; task: string; delayMs?: number }
  | ChildDecision
  | { type: 'task.merging'; task: string; attempt: number; commit: string }
  /** Its work is done, and is merged once these tasks are: it started from what they had published. */
  | { type: 'merge.deferred'; task: string; attempt: number; until: string[] }
  /** The agents of these tasks are asked: they own what is wanted. */
  | {
      type: 'access.asked';
      task: string;
      attempt: number;
      id: string;
      globs: string[];
      owners: string[];
      timeoutMs: number;
    }
  | {
      type: 'access.answered';
      task: string;
      attempt: number;
      id: string;
      /** With a yes, what is granted: what was asked for, or the wider glob of a policy that names it. */
      globs: string[];
      answer: AccessWord;
      /** `scope`, `policy`, `owner`, `owner <task>`, `ended`, or whoever answered the question. */
      by: string;
      why: string;
    }
  | ({
      type: 'attempt.answered';
      task: string;
      attempt: number;
      id: string;
      /** `policy`, `ended`, or whoever answered the question. */
      by: string;
      /** What a person adds to it. */
      note?: string;
      /** With a yes to a budget: the new limit. */
      limit?: number;
      /** With a no to one that all of the run needs: the run stops, since this was too small. */
      stops?: BudgetMark;
    } & Answer)
  /** A message is in the inboxes of these tasks. */
  | {
      type: 'message.delivered';
      /** Who sent it. */
      task: string;
      attempt: number;
      id: string;
      /** A task that stands for others keeps it until there are some. */
      to: string[];
      /** Those that have too much in their inboxes already. */
      full?: string[];
      /** The task that kept it for those within. */
      keptBy?: string;
    }
  | { type: 'wait.ended'; task: string; attempt: number; id: string; why: WaitEnd; text: string }
  /** These wait for each other, and nobody else can end it: all of them are told. */
  | { type: 'wait.circled'; waits: { task: string; attempt: number; id: string }[]; text: string }
  | { type: 'message.refused'; task: string; attempt: number; id: string; why: MessageRefusal; text: string }
  | ({
      type: 'question.asked';
      /** Of something that an attempt asks, its id; else the task's. */
      id: string;
      task: string;
      timeoutMs?: number;
      globs?: string[];
      owners?: string[];
      /** Of a request for access: how the diff begins that says what is wanted. */
      diff?: string;
    } & Question)
  | {
      type: 'task.finished';
      task: string;
      outcome: EndOutcome;
      /** Of a group whose tasks gave a lot there is none: it is what they gave. */
      output?: Json;
      outputRef?: ValueRef;
      /** Of a failure: the tasks beside it that are not started any more. */
      halts?: string[];
    }
  | { type: 'run.finished'; state: 'done' | 'failed' | 'cancelled'; because?: 'budget' };

/** How a task ends. */
export type EndOutcome =
  Outcome | { kind: 'skipped'; because: 'condition' | 'need' | 'stopped'; message: string };

/**
 * `lost`: it ended with its engine, and counts for nothing. `paused`: it was stopped for a pause, and counts for nothing.
 * `feedback`: it was told what was not good enough. `fallback`: its runtime failed, another one goes on. `conflict`: an
 * agent is to settle it. `replan`: tasks that it wrote failed, and it may write others. `context`: its conversation grew
 * too long for its model, and it goes on in a new one; counts for nothing.
 */
export type AgainReason = 'lost' | 'paused' | 'feedback' | 'fallback' | 'conflict' | 'replan' | 'context';

/**
 * `stop`: it ends now, and another attempt goes on after the pause. `hold`: its next request to a model waits.
 * `finish`: it runs on to its end.
 */
export type PauseHow = 'stop' | 'hold' | 'finish';

/** A task that is open again. */
export interface Reopened {
  task: string;
  /** It starts from all that is merged: from where it started before it would only conflict again. */
  onTop?: true;
  /** The attempt whose workspace and conversation are gone on with. */
  continues?: number;
  session?: { id: string; fork: boolean };
  feedback?: string;
}

/** What a round of a continuous task is for: its time has come (`every`), or what it listens to happened (`on`). */
export type RoundReason = 'first' | 'every' | 'on' | 'final';

/** A file that is made for an attempt: the changes between two commits, or a text. */
export interface GivenFile {
  name: string;
  diff?: { from: string; to: string };
  text?: string;
  textRef?: ValueRef;
}

/** One version of an interface. */
export interface Published {
  name: string;
  /** 1, 2, …: of this name, whoever publishes it. */
  version: number;
  value?: Json;
  valueRef?: ValueRef;
  /** The publisher's files at that moment; absent for a task that works on none. */
  commit?: string;
  /** How many of them differ from what it started from. */
  changedCount: number;
}

/** A publication that work rests on: it can be merged once the task that made it is done. */
export interface BuiltOn {
  name: string;
  version: number;
  /** Who published it. */
  task: string;
}

/** In place of a value that is too large for an event: the store has it under the hash of its JSON text. */
export interface ValueRef {
  hash: string;
  bytes: number;
}

/** What an agent waits for: a message (of a task, of an agent, or of anybody), the end of a task, … */
export type WaitFor =
  | { kind: 'message'; task?: string; agent?: string }
  | { kind: 'end'; task: string }
  /** This version of what the task `publisher` announces, or a later one. */
  | { kind: 'publication'; publisher: string; name: string; version: number }
  /** A port that some task gives this name. */
  | { kind: 'service'; name: string };

/** `ended`: what it waits for cannot come any more. */
type WaitEnd = 'met' | 'expired' | 'ended' | 'cancelled';

/** Something an attempt has to ask a person. */
export interface Ask extends Question {
  id: string;
  timeoutMs?: number;
  /** A budget that is spent; a yes raises it. */
  budget?: BudgetMark & { raiseTo: number; isHard: boolean };
}

/** How much of a budget is spent. */
export interface BudgetMark {
  /** `run`, `agent:<name>`, `agent:task:<id>` for an agent that is written in a task, or `task:<id>`. */
  account: string;
  unit: BudgetUnit;
  spent: number;
  limit: number;
  /** The most that the next request can cost, where that is what does not fit any more. */
  next?: number;
}

export type Event = Fact | Decision;
export type EventType = Event['type'];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;

/** The format of the events that this version writes. See schedule/fold/format-2.ts for what was before. */
export const EVENT_FORMAT = 3;

/** An event in the journal. */
export interface Recorded {
  run: string;
  seq: number;
  atMs: number;
  event: Event;
  /** Where it was written in an earlier format than this version's. */
  format?: number;
}
