/** The report of a run as JSON: what the text, the page and other programs show. Types only, all of it bounded. */
import type { ProducedWords } from './question.ts';
import type { Service } from './services.ts';
import type { AccessWord } from './access.ts';
import type { BudgetMark } from './event.ts';
import type { AgentError, Tokens } from './model.ts';
import type { ChangedFile, FailReason, Outcome, Pause, ShownRunState, TaskState } from './run.ts';
import type { BudgetUnit } from './budget-units.ts';
import type { Json, RuntimeName } from './workflow.ts';

export interface RunReport {
  /** Rises when a field changes its meaning or goes; new fields do not raise it. */
  version: 1;
  run: RunFacts;
  /** What held and what could not be had, one sentence each. */
  isolation: string[];
  totals: RunTotals;
  /** As written in the workflow, those of a task right after it. */
  tasks: TaskReport[];
  conflicts: ConflictReport[];
  questions: QuestionReport[];
  /** What agents said to each other, in the order in which they did. */
  messages: MessageReport[];
  /** How many more there are than `messages` has room for. */
  messagesLeftOut: number;
  /** What was limited: the run first, then agents and tasks. */
  budgets: BudgetReport[];
  /** Providers that had to be waited for. */
  waits: WaitReport[];
  /** What a person would type now, the likeliest first. */
  next: NextCommand[];
}

/** What the journal alone says of a run, at any of its moments: without patches, logs and advice. */
export type ReportAt = Omit<RunReport, 'isolation' | 'next'>;

interface RunFacts {
  id: string;
  name: string;
  state: ShownRunState;
  /** Why it was cancelled, where no person did it. */
  because: 'budget' | null;
  /** Where that is the budget: which one, and what did not fit. */
  short: BudgetMark | null;
  /** Who has paused it, and since when. */
  paused: Pause | null;
  startedAtMs: number;
  /** Null while the run has not ended. */
  endedAtMs: number | null;
  /** Up to the last event where the run has not ended; without `idleMs`. */
  durationMs: number;
  /** How long nobody was at work in between: it had ended, its engine had, or the machine slept. */
  idleMs: number;
  baseCommit: string;
  branch: string;
  /** The base where nothing was merged. */
  headCommit: string;
  source: string;
  /**
   * The same for a run and its replay: what happened and the files of the branch, without times, paths and ids. Null
   * where no model was used: there is nothing to replay.
   */
  hash: string | null;
  dirty: boolean;
  inputs: Record<string, Json>;
}

export interface RunTotals {
  /** Tasks that only stand for others (for-each, uses) are not counted: theirs are. */
  tasks: number;
  byState: Partial<Record<TaskState, number>>;
  attempts: number;
  changedFiles: number;
  /** Null where the patch of some task was not at hand: unknown is not zero. */
  linesAdded: number | null;
  linesRemoved: number | null;
  cost: Cost;
}

/** What went over the wire to models, as the gateway metered it. */
export interface Cost {
  /** Null where no model was used, or where the price of some request is not known. */
  usd: number | null;
  /** Without the requests whose price is not known. */
  usdKnown: number;
  /** Of all kinds; null where no model was used. */
  tokens: number | null;
  tokensByKind: Tokens;
  requests: number;
  /** Requests to models whose price nobody knows. */
  unpriced: number;
  /** Requests that the agent's own login paid for, not a key of ours. */
  ownLogin: number;
  /** Requests that a cassette answered: they cost nothing, the dollars are those of the recording. */
  replayed: number;
  /** Requests whose usage the provider never reported: their part is an estimate. */
  estimated: number;
}

export interface BudgetReport {
  /** `run`, `agent:<name>`, `agent:task:<id>` for an agent that is written in a task, or `task:<id>`. */
  account: string;
  limits: LimitReport[];
  warnings: { atMs: number; unit: BudgetUnit; spent: number; limit: number }[];
  /** Limits that were set while it ran. */
  raises: { atMs: number; unit: BudgetUnit; limit: number; by: string }[];
}

interface LimitReport {
  unit: BudgetUnit;
  limit: number;
  spent: number;
}

export interface WaitReport {
  provider: string;
  why: string;
  count: number;
  /** Waits at the same time are counted once. */
  waitedMs: number;
}

export interface TaskReport {
  id: string;
  /** What people call it: its id, but that items of a for-each go by their values, as in `review[security]`. */
  label: string;
  parent: string | null;
  /** What its own tasks come from, where it stands for others. */
  group: 'for-each' | 'uses' | 'expand' | 'handoff' | 'race' | 'continuous' | null;
  state: TaskState;
  /** The name of the agent, or its runtime where it has none; null for a plain command or a question. */
  agent: string | null;
  /** What it does, in a few words: the first line of its prompt, command or question. */
  title: string;
  /** Ids of tasks of this report. */
  needs: string[];
  attempts: AttemptReport[];
  startedAtMs: number | null;
  endedAtMs: number | null;
  reason: FailReason | null;
  /** Why it failed, was skipped or waits. */
  message: string | null;
  /** Of a race: the id of the candidate that was picked; `message` says why. */
  picked: string | null;
  /** A planner wrote other tasks in its place. */
  isReplaced?: true;
  /** It cannot be tried again by itself: one that sums up or judges, a child, an earlier turn or round. */
  isPast?: true;
  /** Its commit on the run's branch. */
  commit: string | null;
  /** What its agents asked for beyond their scopes. */
  access: AccessReport[];
  /** Connections that the scope did not allow, each once. */
  denied: DeniedReport[];
  /** How many more were denied than `denied` has room for. */
  deniedLeftOut: number;
  /** Ports of its attempts that others reached by name, each once; absent where there were none. */
  services?: Service[];
  /** Of all its attempts, and of the tasks within. */
  cost: Cost;
  diff: DiffReport | null;
  output: Json;
  /** Of a task that stands for others. */
  result: GroupResult | null;
  log: LogReport;
}

/** What came of the tasks within one. */
export interface GroupResult {
  done: number;
  all: number;
  /** Those that ended and did not succeed, the first hundred. */
  failures: { task: string; state: TaskState; message: string }[];
  /** A line for each. */
  summary: string;
}

export interface AccessReport {
  id: string;
  attempt: number;
  /** What was granted where the answer is yes, else what was asked for. */
  globs: string[];
  /** The diff that says what was wanted, if the agent gave one; a long one is cut. */
  patch?: string;
  /** Null while there is none. `applied`: an owner made the change itself. */
  answer: AccessWord | null;
  by: string | null;
  why: string | null;
}

export interface DeniedReport {
  host: string;
  /** 0 where the request named none. */
  port: number;
  why: string;
  /** An attempt is counted once, however often it tried. */
  count: number;
}

export interface AttemptReport {
  n: number;
  purpose: 'work' | 'resolve';
  startedAtMs: number;
  endedAtMs: number | null;
  durationMs: number | null;
  /** Null while it runs, or where the engine ended before it did. */
  outcome: Outcome['kind'] | null;
  exit: ExitReport | null;
  workspace: string | null;
  /** The commit that holds what it left behind. */
  snapshot: string | null;
  changed: ChangedFile[];
  changedCount: number;
  refused: string[];
  /** What the scope did not allow, as `path: why`; only `snapshot` has it. */
  outside: string[];
  outsideCount: number;
  artifacts: string[];
  /** What the next attempt was told. */
  feedback: string | null;
  /** What it was told of the conversation before, which had grown too long for its model. */
  recap?: string;
  /** Null for a plain command. */
  runtime: RuntimeName | null;
  /** In place of the agent's own runtime. */
  fallback: { runtime: RuntimeName; model?: string; because: string } | null;
  /** Those that answered, the first one first. */
  models: string[];
  /** The agent's conversation. */
  session: string | null;
  /** Null where the agent did not come to tell. */
  turns: number | null;
  toolCalls: number | null;
  error: AgentError | null;
  cost: Cost;
  claim: ClaimReport | null;
  /** How far its agent last said it was; null where it said nothing. */
  progress: { text: string; percent: number | null } | null;
}

/** What the runtime itself says it used. */
interface ClaimReport {
  usd: number | null;
  tokens: number;
  /** By more than 5 % from what was metered. */
  differs: boolean;
}

interface ExitReport {
  reason: FailReason;
  message: string;
  code: number | null;
  signal: string | null;
}

export interface DiffReport {
  patch: string;
  files: number;
  linesAdded: number;
  linesRemoved: number;
  /** Lines of the whole patch that are not in `patch`. */
  linesLeftOut: number;
}

export interface LogReport {
  lines: LogLine[];
  /** Earlier lines that are not in `lines`. */
  linesLeftOut: number;
  /** Bytes that the engine itself had to drop. */
  droppedBytes: number;
}

export interface LogLine {
  attempt: number;
  /** `agent`: what the agent said and did; the others: what programs printed. */
  stream: 'stdout' | 'stderr' | 'check' | 'setup' | 'agent';
  text: string;
}

export interface ConflictReport {
  task: string;
  attempt: number;
  files: string[];
  /** The tasks whose changes are in the way. */
  with: string[];
  /** How it was settled; null where it was not. */
  resolved: string | null;
}

export interface QuestionReport {
  id: string;
  task: string;
  text: string;
  /** Of an approval: what the tasks before it produced, as far as there is room. */
  produced: ProducedWords[];
  /** What can be chosen; empty for yes or no, and where only free text is taken. */
  choices: string[];
  several: boolean;
  freeText: boolean;
  /** What counts where nobody answers in time; null where that is nothing. */
  default: string | null;
  askedAtMs: number;
  /** Null as long as it is open, and where nobody said anything. */
  answer: string | null;
  by: string | null;
  note: string | null;
  /** Null as long as it is open. */
  answeredAtMs: number | null;
}

export interface MessageReport {
  id: string;
  /** Who sent it. */
  task: string;
  attempt: number;
  /** In the sender's words. */
  to: string;
  /** JSON as its text. */
  text: string;
  urgent: boolean;
  sentAtMs: number;
  /** The tasks that it went to; null where none of their attempts read it. */
  readers: { task: string; readAtMs: number | null }[];
  /** Why it was not sent. */
  refused: string | null;
}

export interface NextCommand {
  command: string;
  why: string;
}
