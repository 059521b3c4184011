/** What operations give about runs that wait for an engine, and about agents that were started from outside. */
import { z } from 'zod';
import { count, opt, shownRunState, taskState, text, texts } from './schema-parts.ts';

/** A run that is in the journal, and that nobody drives yet. */
export const QueuedRun = z.strictObject({
  id: text,
  /** What a person should know. */
  notes: texts,
});
/** `task`: the one task that it has. */
export const QueuedTask = QueuedRun.extend({ task: text });

const agentState = z.enum(['pending', 'active', 'completed', 'failed']);

/** An agent that was started from outside. */
export const Spawned = z.object({
  /** Its parent's run, or one of its own. */
  run: text,
  /** Absent as long as no engine has taken it as a child. */
  task: opt(text),
  /** `RUN/TASK` */
  parent: opt(text),
  state: agentState,
  /** What a person should know. */
  notes: texts,
});
export type Spawned = z.output<typeof Spawned>;

export const Agents = z.array(
  z.strictObject({
    run: text,
    /** Absent as long as no engine has taken it. */
    task: opt(text),
    label: opt(text),
    /** The agent's name, or its runtime. */
    role: text,
    /** `RUN/TASK` of the task that it is within or goes on from. */
    parent: opt(text),
    state: agentState,
    taskState: opt(taskState),
    /** Why it did not succeed. */
    message: opt(text),
  }),
);

/** A run of the queue that was begun here, or has ended; `why` where it could not be started, or was left as it is. */
export const WorkedOn = z.strictObject({ run: text, state: shownRunState, why: opt(text) });
/** How many of the runs that were driven ended how. */
export const Worked = z.strictObject({ done: count, failed: count, cancelled: count });
