/** The state of a run: what the fold over its events gives. Plain data; only the fold writes it. */
import type {
  Held,
  Pause,
  Progress,
  KeptQuestion,
  RunState,
  TaskState,
  Conflict,
  Outcome,
} from '../contract/run.ts';
import type {
  Ask,
  BudgetMark,
  BuiltOn,
  EventOf,
  PauseHow,
  Published,
  RoundReason,
  ValueRef,
} from '../contract/event.ts';
import type { LandedAs } from '../contract/landed.ts';
import type { Parent, Queued } from '../contract/run-origin.ts';
import type { AccessWord } from '../contract/access.ts';
import type { Spending } from '../contract/model.ts';
import type { Service } from '../contract/services.ts';
import type { LongText } from '../contract/summary.ts';
import type { Json, RuntimeName, Task, Workflow } from '../contract/workflow.ts';
import type { Clock, BudgetLimits } from './money/budget.ts';
import type { Queue } from './queue.ts';
import type { Overruns } from './money/overruns.ts';

/** A task of the run: one of the workflow's, or one that for-each, uses or expand made. */
export interface Node {
  readonly id: string;
  /** What people call it: its id, but that items of a for-each go by their values. */
  readonly label: string;
  /** The name under which its siblings know it. */
  readonly name: string;
  /** Of an item of a for-each, with the scope that is its own. */
  readonly task: Task;
  /** Why that scope cannot be had. */
  readonly scopeProblem?: string;
  /** The workflow it is written in: its agents, its policies, its sibling tasks. */
  readonly workflow: Workflow;
  readonly inputs: Record<string, Json>;
  /** The task it belongs to; undefined at the top. */
  readonly parent: Node | undefined;
  /** The names its needs and expressions speak of: its siblings. */
  readonly siblings: Map<string, Node>;
  /** What it and its siblings publish, by name. */
  readonly interfaces: Map<string, Interface>;
  readonly kind: 'work' | 'approve' | 'for-each' | 'uses' | 'handoff' | 'race' | 'continuous';
  readonly order: string;
  readonly each?: { value: Json; index: number };
  /** Within a `handoff`: the agent whose turn it is, and what sent the work back to it. */
  readonly turn?: { at: number; agent: string; rejected?: { by: string; reasons: string } };
  /** Within a `race`: the name of this candidate among the others, or that this is who judges them. */
  readonly candidate?: string;
  readonly isJudge?: true;
  /** The long text that this task sums up for `parent` and others. */
  readonly sums?: { text: Pick<LongText, 'what' | 'text' | 'textRef'>; readers: Set<Node> };
  /** A child that the agent of `parent` asked for while it was at work, and what it starts from. */
  readonly isChild?: true;
  readonly origin?: Origin;
  /** Within a `continuous` task: what this round is for. */
  readonly round?: RoundReason;

  state: TaskState;
  needs: Node[];
  dependents: Node[];
  /** What it needs of others before they have ended. */
  apis: Interface[];
  /** Needs that have not ended, and interfaces that may still be published. */
  unmet: number;
  children: Node[];
  /** Children that have not ended. */
  open: number;
  /** The number of the last attempt that was started. */
  attempt: number;
  /** Failed attempts that count against `retry`. */
  failures: number;
  /** Attempts in a row that were lost although their engine lived. */
  lost?: number;
  /** Attempts that count against `attempts`, since the last fresh start; of a `handoff`, its rounds. */
  rounds: number;
  started?: EventOf<'attempt.started'>;
  /** What the attempt that just ended said; decided on, then cleared. */
  ended?: EventOf<'attempt.finished'>;
  merged?: EventOf<'task.merged'>;
  /** What the last attempt was told was wrong with it. */
  feedback?: string;
  answer?: EventOf<'question.answered'>;
  /** A conflict that an agent is to resolve. */
  resolving?: { marked: string; conflict: Conflict; tries: number };
  conflicted?: EventOf<'task.conflicted'>;
  /** For the next attempt: the one it goes on from and what it is told. */
  next?: { continues?: number; feedback?: string; session?: { id: string; fork: boolean }; story?: Story };
  /** How often it has gone on in a new conversation, since the last one had grown too long. */
  recaps?: number;
  /** The conversation of the last attempt that had one. */
  session?: { id: string; runtime: RuntimeName; attempt: number; forgets?: true };
  /** The runtime and model in place of the agent's own, and how many of its fallbacks were tried. */
  fallback?: { runtime: RuntimeName; model?: string; because: string; count: number };
  /** A model has answered the attempt that runs. */
  hasUsedModel?: boolean;
  /** The agent of the attempt that runs has ended; its result may still be checked. */
  isAgentDone?: boolean;
  /** The last attempt was started, and had no slot up to now, or at its end. */
  waitsForSlot?: boolean;
  /** A person has paused it, and all within it. */
  paused?: Pause;
  /** What was decided on the attempt that runs when a pause came. */
  pausing?: PauseHow;
  /** What its work rests on of tasks that were not done when it started. */
  restsOn: BuiltOn[];
  /** Tasks whose end it waits for with its merge. */
  mergesAfter?: string[];
  /** How often its agents have published, and their files when they last did. */
  publications: number;
  published?: string;
  /** Starts from all that is merged, not from its needs alone. */
  onTop?: boolean;
  stopping?: 'graceful' | 'now';
  /** Of a child: nobody wants it any more. */
  isUnwanted?: boolean;
  /** Of a child: its parent cancelled it, for good. */
  isDismissed?: boolean;
  /** Its own work is over, and it waits for its children. */
  awaiting?: EventOf<'task.awaiting'>;
  /** A sibling failed and the workflow says to stop: this one is not to be started any more. */
  halted?: boolean;
  /** Stands in `todo`. */
  queued?: boolean;
  delayMs?: number;
  /** Of a `continuous` task: it waits for its next round, its time has come, what it listens to has happened. */
  resting?: boolean;
  isDue?: boolean;
  isCalled?: boolean;
  /** The condition held; not asked again. */
  admitted?: boolean;

  outcome?: EventOf<'task.finished'>['outcome'];
  output?: Json;
  /** In place of a large output. */
  outputRef?: ValueRef;
  /** The commits a task that needs this one starts from. */
  results: string[];
  /** Of a race: the task within that judges it, and the candidate whose work counts. */
  judge?: string;
  picked?: { candidate: string; because: string };
  /** Of a candidate: what the judge's check printed. */
  score?: number;
  /** Of an expand task, and of one that waits for its children: what it did itself. */
  own?: string[];
  expansion?: EventOf<'attempt.finished'>['expansion'];
  /** Of an expand task: it writes tasks in place of those that failed, and how often it has been asked to. */
  isReplanning?: boolean;
  replans?: number;
  /** Within one: others were written in its place. */
  isReplaced?: boolean;
  /** What its agents asked for and got, beyond their scopes; later attempts have it from the start. */
  granted: string[];
  /** How often its agents have asked for access, and how often a person something else. */
  requests: number;
  questions: number;
  /** What people said to its agent that no attempt has read, and how much they have said in all. */
  steers: { number: number; text: string }[];
  steered: number;
  /** What the agent gave as the output before its end; attempts that go on from that one have it. */
  given?: Pick<EventOf<'attempt.gave'>, 'output' | 'outputRef'>;
  /** How many messages its agents have sent. */
  sent: number;
  /** What was sent to it and is not acknowledged, oldest first; of a task that stands for others, what it keeps for them. */
  inbox: Map<Message, InboxEntry>;
  /** Its attempt waits for others or for a person, and does nothing else. */
  isAway?: boolean;
  /** Tasks that sum up what its prompt gets; they are not among its children. Those of them that it waits for. */
  summaries?: Node[];
  awaits?: Set<Node>;
  /** How often its agents have asked for a child. */
  spawns?: number;

  /** The ports of its attempt's sandbox that have names: as `services` of the state has them. */
  services?: Service[];

  /** For people: never read by decide. */
  held?: Held;
  /** How far the agent of the last attempt said it was. */
  progress?: Progress;
  retryAtMs?: number;
  isUncounted?: boolean;
  startedAtMs?: number;
  endedAtMs?: number;
  /** How long its attempts were at work that have ended, and since when one is. */
  workedMs?: number;
  attemptAtMs?: number;
  workspace?: string;
  workspaceBase?: string;
  /** What the last attempt left is a commit. */
  isCollected?: boolean;
  lastOutcome?: Outcome;
  branchCommit?: string;
  changedCount?: number;
  /** Files that the scope did not allow. */
  outsideCount?: number;
  /** Of all its attempts and of the tasks within; the same as that of its account. */
  spending?: Spending;
}

/** What was said and done in a conversation that grew too long. */
export interface Story {
  attempt: number;
  text?: string;
  textRef?: ValueRef;
}

/** What tasks of one level may publish under a name. */
export interface Interface {
  readonly name: string;
  /** The task that announces it, and those that need it, as they are written. */
  readonly publisher: Node;
  readonly waiters: Node[];
  /** All versions, the newest last. */
  readonly versions: Publication[];
}

export interface Publication extends Published {
  readonly task: string;
}

/** Where work starts: commits, and those publications behind them whose tasks are not done. */
export interface Origin {
  commits: string[];
  publications: BuiltOn[];
}

/** A request for access that has no answer yet. */
export interface AccessRequest {
  readonly id: string;
  readonly task: string;
  readonly attempt: number;
  readonly globs: string[];
  /** What it would change there. */
  readonly patch?: string;
  readonly patchRef?: ValueRef;
  /** The owners whose agents were asked, and what came of it. */
  owners: Map<string, 'asked' | AccessWord | 'ended'>;
  /** The owners had their time. */
  isUnanswered?: boolean;
  /** What a person said. */
  answer?: EventOf<'question.answered'>;
  /** Stands in `asks`. */
  queued?: boolean;
}

/** What an attempt asked a person, and has no answer yet. */
export interface OpenAsk extends Ask {
  readonly task: string;
  readonly attempt: number;
  said?: EventOf<'question.answered'>;
  /** Stands in `wants`. */
  queued?: boolean;
}

/** What an agent said to others, as long as somebody has to get it. */
export interface Message extends Omit<EventOf<'message.sent'>, 'type'> {
  readonly sentAtMs: number;
  /** The inboxes that have it. */
  inboxes: number;
}

export interface InboxEntry {
  /** The last attempt that was given it. */
  readBy?: number;
}

/** A port of an attempt's sandbox that has a name. */
export interface ServiceAt extends Service {
  readonly task: string;
  readonly attempt: number;
}

/** What an attempt waits for, as long as nothing came of it. */
export interface Wait extends Omit<EventOf<'wait.began'>, 'type'> {
  isExpired?: boolean;
}

export interface State extends Overruns {
  id: string;
  workflow: Workflow;
  source: string;
  dirty: boolean;
  base: string;
  /** The head of the run's branch, and the head that knows the whole ancestry. */
  head: string;
  shadow: string;
  inputs: Record<string, Json>;
  state: RunState;
  cancelling?: 'graceful' | 'now';
  /** In whose branch its work is, as far as `bosun merge` brought it there. */
  landed?: LandedAs & { atMs: number };
  /** A person has paused all of it. */
  paused?: Pause;
  /** The nodes that have a pause of their own. */
  pausedTasks: Set<Node>;
  /** It is paused, and since then nothing of it is at work. */
  idleSinceMs?: number;
  /** Somebody wants it to go on; decided on, then cleared. */
  goesOn?: EventOf<'run.resumed'> | EventOf<'task.retried'>;
  nodes: Map<string, Node>;
  top: Map<string, Node>;
  /** Nodes that need a decision, in order. Empty whenever a batch of events is complete. */
  todo: Queue<Node>;
  /** Nodes that wait for a slot. Entries whose node has moved on are passed over. */
  ready: Queue<Node>;
  /** Nodes that wait with their merge for the end of a publisher. */
  deferred: Set<Node>;
  /** The nodes of continuous tasks. */
  continuous: Node[];
  running: number;
  /** Nodes that have not ended. */
  open: number;
  questions: Map<string, KeptQuestion>;
  /** Requests for access that have no answer, by their ids. */
  requests: Map<string, AccessRequest>;
  /** Those of them that need a decision, in order. Empty whenever a batch of events is complete. */
  asks: Queue<AccessRequest>;
  /** What attempts asked, by its id, and those of it that need a decision. */
  asked: Map<string, OpenAsk>;
  wants: Queue<OpenAsk>;
  /** Messages that somebody has to get, by their ids. */
  messages: Map<string, Message>;
  /** Those of them that need a decision, in order. Empty whenever a batch of events is complete. */
  mail: Queue<Message>;
  /** Tasks that keep messages for the tasks within them that are still to come. */
  keepers: Set<Node>;
  /** What attempts wait for, by id, and how many attempts do nothing else. */
  agentWaits: Map<string, Wait>;
  away: number;
  /** What attempts at work serve, by name. */
  services: Map<string, ServiceAt>;
  /** The last event was one that ends no wait, such as something that was printed. */
  isQuiet: boolean;
  /** Children that were asked for and not decided on, in order. Empty whenever a batch of events is complete. */
  spawns: Queue<EventOf<'child.requested'>>;
  /** How much the journal keeps of all that were asked for. */
  spawnedChars: number;
  /** The tasks that sum up long texts, by the key of `summaryKey`. */
  summaries: Map<string, Node>;
  /** By account: what was spent, what a person allowed since, how long attempts were at work. */
  spending: Map<string, Spending>;
  limits: Map<string, BudgetLimits>;
  clocks: Map<string, Clock>;
  /** Providers that had to be waited for, by name. For people. */
  waits: Map<string, { untilMs: number; why: string }>;
  /** Why the run is being cancelled, where no person did it. */
  because?: 'budget';
  /** Where it is the budget: what was asked for last. */
  short?: BudgetMark;
  /** The value that a reference stands for; the same for the same reference, always. */
  read(ref: ValueRef): Json;
  /** The SHA-256 of a text. Whoever decides brings it along: browsers have none that answers at once. */
  hash(text: string): string;
  createdAtMs: number;
  endedAtMs?: number;
  /** When the last event was. */
  lastAtMs: number;
  /** How long no engine was at work on it since it was created, or all of the machine slept. */
  idleMs: number;
  /** An engine has driven it, or it waits in the queue for one: time without an engine is nobody's work. */
  hasEngine: boolean;
  /** Webhooks are told of what happens. */
  hasWebhooks?: boolean;
  readonly parent?: Parent;
  /** Set until an engine begins to drive it, or it is cancelled. */
  pending?: Queued;
  counts: Partial<Record<TaskState, number>>;
}

const ENDED: ReadonlySet<TaskState> = new Set(['done', 'failed', 'skipped', 'cancelled']);

export function hasEnded(node: Node): boolean {
  return ENDED.has(node.state);
}

/**
 * A turn of a handoff or a round that others came after, a candidate that was not picked, whoever judged or summed up
 * something, a task in whose place a planner wrote others: it is not taken again, whatever became of it.
 */
export function isPast(node: Node): boolean {
  if (node.isJudge || node.isReplaced || node.sums || hasLost(node)) return true;
  return (node.turn ?? node.round) !== undefined && node.parent!.children.at(-1) !== node;
}

/** A candidate of a race in which another one was picked. */
export function hasLost({ id, candidate, parent }: Node): boolean {
  return candidate !== undefined && parent!.picked !== undefined && parent!.picked.candidate !== id;
}

/** The task as the workflow has it: items of a for-each, turns, candidates and rounds have no needs of their own. */
export function writtenAs(node: Node): Node {
  const { parent, each, turn, round, candidate, isJudge, sums } = node;
  const isOwn = (each ?? turn ?? round ?? candidate ?? isJudge ?? sums) === undefined;
  return parent && !isOwn ? writtenAs(parent) : node;
}

/** A task that stands for those within it; one that has children besides its own work does not. */
export function isGroup(node: Node): boolean {
  return node.children.some(({ isChild }) => !isChild);
}

/** Its own work is done, and it waits for its children. */
export function isAwaiting({ awaiting }: Node): boolean {
  return awaiting?.outcome.kind === 'done';
}

/** Whether only continuous tasks are left of those that are written beside this one. */
export function isRestOver({ siblings }: Node): boolean {
  for (const other of siblings.values()) if (other.kind !== 'continuous' && !hasEnded(other)) return false;
  return true;
}

export function nodeOf(state: State, id: string): Node {
  const node = state.nodes.get(id);
  if (!node) throw new Error(`no task ${id} in run ${state.id}`);
  return node;
}

/** The node, and all that it stands for. */
export function* withAllWithin(node: Node): Generator<Node> {
  yield node;
  for (const child of node.children) yield* withAllWithin(child);
  for (const summary of node.summaries ?? []) yield summary;
}

/** The pause that keeps the node from going on: its own, that of a task around it, or that of the run. */
export function pauseOf(state: State, node: Node): Pause | undefined {
  return taskPauseOf(state, node) ?? state.paused;
}

/** Without that of the run. */
export function taskPauseOf({ pausedTasks }: State, node: Node): Pause | undefined {
  return pausedTasks.size === 0 ? undefined : nearestPause(node);
}

function nearestPause(node: Node): Pause | undefined {
  return nearestPaused(node)?.paused;
}

/** The node itself, or the nearest around it, that a person has paused. */
export function nearestPaused(node: Node): Node | undefined {
  for (let at: Node | undefined = node; at; at = at.parent) if (at.paused) return at;
  return undefined;
}

export function isTaskWithin(node: Node, id: string): boolean {
  for (let at: Node | undefined = node; at; at = at.parent) if (at.id === id) return true;
  return false;
}

/** A need that lets its dependents go on: done, skipped by its own condition, or failed where that is accepted. */
export function isMet(node: Node): boolean {
  if (node.state === 'done') return true;
  if (node.state === 'failed') return isTolerated(node);
  return node.state === 'skipped' && node.outcome?.kind === 'skipped' && node.outcome.because === 'condition';
}

/** A failure that the workflow says to live with. One item of a for-each still fails the whole. */
export function isTolerated(node: Node): boolean {
  return node.task['on-failure'] === 'continue' && node.parent?.kind !== 'for-each';
}

export function hasFailed(node: Node): boolean {
  if (node.state === 'failed') return !isTolerated(node);
  if (node.state === 'cancelled') return true;
  return node.state === 'skipped' && !isMet(node);
}
