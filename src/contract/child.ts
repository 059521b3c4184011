/** What an agent asks for when it wants a child, what the journal keeps of that, and what it learns of its children. Types only. */
import type { BuiltOn, EndOutcome, ValueRef } from './event.ts';
import type { TaskState } from './run.ts';
import type { Json, RuntimeName, Task } from './workflow.ts';

export interface SpawnRequest {
  prompt: string;
  /** What the child is called, beside its parent's name. */
  name?: string;
  /** An agent of the workflow; the parent's own where nothing is said. */
  agent?: string;
  /** In place of an agent of the workflow. */
  runtime?: RuntimeName;
  model?: string;
  /** What it may change: at most what its parent may. */
  write?: string[];
  /** A command that its work must pass, besides what its parent's must. */
  check?: string;
  /** Its share of what the parent may spend. */
  usd?: number;
  tokens?: number;
}

export interface Child {
  task: string;
  name: string;
  state: TaskState;
  /** Why it did not succeed. */
  message?: string;
  output?: Json;
  changedCount?: number;
  usd?: number;
}

export interface Children {
  children: Child[];
  /** Ended ones that are left out, the oldest first. */
  leftOut?: number;
}

export type ChildFact =
  /** An agent wants a child: another agent with a task of its own, within what it may do itself. */
  | {
      type: 'child.requested';
      task: string;
      attempt: number;
      id: string;
      name: string;
      /** As it was checked: no more than the parent may do itself. */
      child: Task;
      /** Who asked for it from outside, and by which key they know it; the agent of the task itself where nobody did. */
      by?: string;
      key?: string;
    }
  /** A child is not wanted any more. */
  | { type: 'child.cancelling'; task: string; by: string }
  /** A person wants no more of a task, nor of the tasks within it; the rest of the run goes on. */
  | { type: 'task.cancelling'; task: string; by: string };

export type ChildDecision =
  /** The child that was asked for is a task within, and starts from these commits; or why there is none. */
  | {
      type: 'child.added';
      task: string;
      id: string;
      child: string;
      from: string[];
      /** Those that the commits rest on. */
      publications?: BuiltOn[];
    }
  | { type: 'child.refused'; task: string; id: string; why: string }
  /** The task's own work is over, and ends like this once its children have ended; those that are not wanted are named. */
  | {
      type: 'task.awaiting';
      task: string;
      outcome: EndOutcome;
      output?: Json;
      outputRef?: ValueRef;
      cancels?: string[];
    };
