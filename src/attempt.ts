/** What an attempt is given: the parts of the machine, and its place in the run. Types only. */
import type { AccessAnswer, OwnerSaid, PendingAccess } from './contract/access.ts';
import type { EventOf, Fact } from './contract/event.ts';
import type { Agent, Task, Workflow } from './contract/workflow.ts';
import type { Home } from './home.ts';
import type { StopSignal } from './runtime/runtime.ts';
import type { EngineGit } from './system/engine-git.ts';
import type { Launcher } from './system/process.ts';
import type { Workspaces } from './workspace/workspace.ts';

/** The parts of the machine that an attempt is made of. */
export interface Stages {
  home: Home;
  git: EngineGit;
  launcher: Launcher;
  /** Whether the launcher holds fences. */
  isFenced: boolean;
  workspaces: Workspaces;
}

/** How an attempt is told to end, by whoever may. */
export interface Stop {
  graceful: AbortController;
  now: AbortController;
}

export interface Attempt {
  run: string;
  start: EventOf<'attempt.started'>;
  task: Task;
  workflow: Workflow;
  agent: Agent | undefined;
  /** The workspace that `start.continues` speaks of. */
  continues: { workspace: string; base: string } | undefined;
  /** The head that has everything merged so far: the base where needs cannot be merged by themselves. */
  shadow: string;
  /** Files a resolved conflict must no longer have markers in. */
  conflictFiles: string[];
  stop: StopSignal;
  /** What the task's agents were granted beyond their scopes, up to now. */
  readonly granted: readonly string[];
  /** Asks to change more; resolves once the answer is in the journal. Throws where the globs are none. */
  requestAccess(globs: readonly string[]): Promise<AccessAnswer>;
  /** What this attempt is asked as an owner, and its answer to that. */
  inbox(): PendingAccess[];
  answerAccess(id: string, answer: 'yes' | 'no'): OwnerSaid;
  emit(fact: Fact): void;
  nowMs(): number;
}
