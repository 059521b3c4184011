/**
 * A run at one moment, as all of its views show it: as it is now, or as it was then. Plain values made of the core's
 * state; the same object for as long as nothing of it changes. Of what is in it, `events` and `spent` are lists that grow
 * in place: whoever keeps what they made of them goes by `count`, or by how many there are.
 */
import type { Recorded } from '../../src/contract/event.ts';
import type { Isolation } from '../../src/contract/isolation.ts';
import type { AttemptReport, ReportAt } from '../../src/contract/report.ts';
import type { RunView, ShownRunState, TaskView } from '../../src/contract/run.ts';
import type { Limits, Scope } from '../../src/contract/workflow.ts';

export interface RunAt {
  repository: string;
  /** Now, or the moment that was wound to. */
  atMs: number;
  isLive: boolean;
  /** Of the whole run, whatever moment it is: its first and its last event. */
  startedAtMs: number;
  lastAtMs: number;
  /** With `interrupted` for one that nobody drives. */
  state: ShownRunState;
  run: RunView;
  /** What held its commands: the last is what does now, those before it did before it was resumed. */
  isolations: readonly Isolation[];
  /** In the order in which they are shown. */
  tasks: readonly TaskAt[];
  task(id: string): TaskAt | undefined;
  /** All that was read of its journal, the oldest first, without what programs printed; the first `count` had happened. */
  events: readonly Recorded[];
  count: number;
  /** What was spent in all by then, of the whole run, whatever moment it is: a step for each request that was charged. */
  spent: readonly { atMs: number; usd: number }[];
  /** All that had happened, as its report tells it, without patches. Made when it is first asked for, and kept. */
  report(): ReportAt;
}

/** A task at that moment. */
export interface TaskAt {
  view: TaskView;
  facts: TaskFacts;
  /** Those that had begun by then. */
  attempts: readonly AttemptAt[];
}

/** What is the same at all moments. */
export interface TaskFacts {
  id: string;
  label: string;
  kind: 'work' | 'approve' | 'for-each' | 'uses' | 'handoff' | 'race' | 'continuous';
  /** The task it belongs to. */
  parent?: string;
  /** Ids of the tasks it waits for; a group stands for what is within it. */
  needs: readonly string[];
  /** The first line of its prompt, command or question. */
  title: string;
  agent?: string;
  runtime?: string;
  model?: string;
  scope?: Scope;
  limits?: Limits;
}

export interface AttemptAt extends Pick<
  AttemptReport,
  'n' | 'purpose' | 'outcome' | 'startedAtMs' | 'endedAtMs'
> {
  /** When it waited for a person. */
  asked: readonly { fromMs: number; toMs: number | null }[];
}

/** How many had happened by then. Where the clock was set back their order counts: what came later came later. */
export function countUntil(events: readonly Pick<Recorded, 'atMs'>[], atMs: number): number {
  const next = events.findIndex((event) => event.atMs > atMs);
  return next === -1 ? events.length : next;
}
