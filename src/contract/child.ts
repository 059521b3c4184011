/** What an agent asks for when it wants a child, and what it learns of its children. Types only. */
import type { TaskState } from './run.ts';
import type { Json, RuntimeName } from './workflow.ts';

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
  check?: string;
  attempts?: number;
  /** A JSON Schema for its output. */
  output?: Record<string, Json>;
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
