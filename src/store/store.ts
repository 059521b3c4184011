/** The journal's interface: whole operations, never a transaction handed out. Implementation: sqlite.ts. */
import type { Event, Recorded, ValueRef } from '../contract/event.ts';
import type { BudgetUnit } from '../contract/budget-units.ts';
import type { Spending } from '../contract/model.ts';
import type { Answer } from '../contract/question.ts';
import type { Json, Task } from '../contract/workflow.ts';
import type { RunState, RunView, TaskState, TaskView } from '../contract/run.ts';
import type { Claim, Driver } from './claims.ts';
import type { LookTimes } from './journal-looks.ts';
import type { StoredValue } from './values.ts';

/** What a door asks of the engine that drives a run, through the store. */
export type Request =
  | { do: 'cancel'; mode: 'graceful' | 'now'; by: string }
  | { do: 'cancel-task'; task: string; by: string }
  /** `askedAtMs` says which asking is meant: some questions are asked again under the same id. */
  | ({ do: 'answer'; question: string; askedAtMs?: number; by: string; note?: string } & Answer)
  /** The run, where no task is named. */
  | { do: 'pause' | 'unpause'; task?: string; by: string }
  | { do: 'steer'; task: string; text: string; by: string }
  /** A child of the task, as it was checked; it is asked for once an attempt of the task is at work. */
  | { do: 'spawn'; task: string; key: string; name?: string; child: Task; by: string }
  | { do: 'budget'; account: string; limits: Partial<Record<BudgetUnit, number>>; by: string };

/**
 * Whether there is room for a request, decided while nobody else can write: by what waits by then, and by what was
 * recorded after `afterSeq`, up to which whoever asks knows the run. `require` throws where there is none.
 */
export interface Room {
  /** Absent where nothing that was recorded matters. */
  afterSeq?: number;
  require(waiting: readonly Request[], recorded: readonly Event[]): void;
}

/** What a run that was taken out of the journal left, by the names of files. */
export interface Left {
  workspaces: string[];
  memories: string[];
}

interface Entry {
  atMs: number;
  event: Event;
}

/** What changes with a batch of events, in the same transaction. */
export interface Batch {
  entries: Entry[];
  /** What the events refer to. */
  values?: StoredValue[];
  run: RunView;
  /** Only the tasks that the batch touched. */
  tasks: TaskView[];
  /** Requests that the batch answers. */
  handled: number[];
}

/** How the journal of a run begins. */
export type FirstBatch = (id: string) => { atMs: number; batch: Batch };

/** A run that is to wait for an engine; see `create` for its number. */
export interface Queueing {
  name: string;
  lastNumber: number;
  first: FirstBatch;
  /** Asked for again with this key it is not made again. */
  once?: Once;
}

/** What was asked for under a key: another request with that key is another one's. */
export interface Once {
  key: string;
  hash: string;
}

export interface ReadOptions {
  afterSeq?: number;
  limit?: number;
  /** Leaves out what agents printed: state does not depend on it. */
  withoutOutput?: boolean;
  /** Only events of these types. */
  types?: readonly string[];
  /** Values of more bytes stay references. */
  valueBytesMax?: number;
  task?: string;
  /** Only those of this task and of the tasks within it, with the answers to what they asked. */
  around?: string;
}

export interface RunsOptions {
  /** Only those that are older than this run. */
  before?: string;
  /** Only those of this name. */
  name?: string;
  /** Only those in these states, as their journals say them. */
  states?: readonly RunState[];
}

/** Where somebody stands who follows all runs: the batch, and the event of it, that they have seen. */
export interface Cursor {
  batch: number;
  seq: number;
}

/** An event, and where whoever has seen it stands. */
export interface Followed {
  recorded: Recorded;
  cursor: Cursor;
}

export interface FollowOptions extends Pick<ReadOptions, 'withoutOutput'> {
  /** The beginning where none is given. */
  after?: Cursor;
  /** Only this run. */
  run?: string;
  /** Fewer where the events are large; none only where there are none. */
  limit: number;
}

export interface Store extends AsyncDisposable {
  /** Whether its file is still the one of that name, in the format that it had when it was opened. */
  isCurrent(): boolean;
  /**
   * Starts a journal; the run's id is the workflow's name and the next number, above `lastNumber` in any case. Whoever
   * starts it may drive it before anybody can see it, so that nobody takes it for one that was interrupted.
   */
  create(
    name: string,
    lastNumber: number,
    first: FirstBatch,
    once?: Once,
  ): Promise<{ id: string; claim: Claim }>;
  /** The run that a key has begun, as long as it is kept; of what `once` has begun, a second one fails. */
  begunWith(key: string): Promise<{ run: string; hash: string } | undefined>;
  /**
   * Starts journals of runs that wait for an engine, all of them or none; gives their ids. Of one that was asked for
   * before with its key the id is given, and nothing changes; fails where something else was asked for with that key.
   */
  enqueue(runs: readonly Queueing[]): Promise<string[]>;
  /** Appends after exactly `expectedSeq`; fails, changing nothing, where somebody else has appended meanwhile. */
  append(run: string, expectedSeq: number, batch: Batch): Promise<number>;
  /** With a `limit`, fewer where the events are large; none only where there are none. */
  read(run: string, options?: ReadOptions): Promise<Recorded[]>;
  /** Events of all runs, in the order in which they were written. */
  follow(options: FollowOptions): Promise<Followed[]>;
  /** Behind the last of them. */
  head(): Promise<Cursor>;
  /** Which journal it is: no other one has this, also not one that takes its place. */
  identity(): Promise<string>;
  /** A value that an event of the run refers to. At once: it is read while the run decides. */
  value(run: string, ref: ValueRef): Json;
  /** How much of what agents printed and told is in the journal. */
  outputBytes(run: string): Promise<number>;
  /** What the tasks of a run spent on each model. */
  modelUses(run: string): Promise<(Spending & { task: string; model: string })[]>;
  run(id: string): Promise<RunView | undefined>;
  /** The newest first. */
  runs(limit: number, options?: RunsOptions): Promise<RunView[]>;
  /** Those that have begun and not ended, the newest first; nobody may drive them. */
  openRuns(): Promise<RunView[]>;
  /** Those that wait for an engine, the oldest first. */
  pendingRuns(limit: number): Promise<RunView[]>;
  /** In the order in which they are shown; with `after` those behind this task. */
  tasks(
    run: string,
    options?: { states?: readonly TaskState[]; limit?: number; after?: string },
  ): Promise<TaskView[]>;
  /** Asks for something of the run, which whoever drives it then hears of. */
  request(run: string, request: Request, room?: Room): Promise<void>;
  /** Takes back what was asked for with this key; false where an engine has it already. */
  withdraw(run: string, key: string): Promise<boolean>;
  requests(run: string): Promise<{ id: number; request: Request }[]>;
  /**
   * Gives a word at the beginning, soon after something was asked for of the run, and now and then in any case: what
   * engines of other runs write wakes nobody. Ends with the signal.
   */
  asked(run: string, signal: AbortSignal, times?: LookTimes): AsyncIterable<void>;
  /** About what the run takes in the journal. */
  bytes(run: string): Promise<number>;
  /** Takes a run out of the journal, and notes what is still to go elsewhere; its number is not used again. */
  prune(run: string, left: Left): Promise<void>;
  /** Runs that were taken out, and what is still to go. */
  pruned(): Promise<{ run: string; left: Left }[]>;
  /** All that such a run left is gone. */
  forget(run: string): Promise<void>;
  /** Gives the space of what was taken out back to the disk. */
  compact(): void;
  /** The right to drive a run; undefined where another engine has it. It ends with the engine's process at the latest. */
  claim(run: string): Promise<Claim | undefined>;
  /** The engine that drives a run, if one does. */
  driver(run: string): Promise<Driver | undefined>;
  /**
   * Gives a word at the beginning, each time that somebody else has written, and now and then in any case: an engine
   * that is killed writes nothing. Ends with the signal.
   */
  changes(signal: AbortSignal, times?: LookTimes): AsyncIterable<void>;
}
