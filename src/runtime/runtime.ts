/** What every runtime does: turns a prompt into work in a workspace. Implementations: cli.ts. */
import type { Outcome } from '../contract/run.ts';
import type { Agent, Json } from '../contract/workflow.ts';
import type { Launch, Running } from '../system/process.ts';
import type { OutputSink } from './output.ts';

/** How an attempt is told to end. */
export interface StopSignal {
  /** Aborted when the agent is to end by itself, soon. */
  graceful: AbortSignal;
  /** Aborted when it is to end now. */
  now: AbortSignal;
}

export interface Job {
  /** Absent for a plain command: then the prompt is the command. */
  agent: Agent | undefined;
  prompt: string;
  feedback: string | undefined;
  env: Record<string, string>;
  /** The directory with the attempt's own files, outside the workspace. */
  files: string;
  timeoutMs: number | undefined;
  stop: StopSignal;
  output: OutputSink;
  launch(launch: Omit<Launch, 'cwd'>): Promise<Running>;
}

export interface Result {
  outcome: Outcome;
  /** What the agent gave as its output: JSON where it is JSON, else text. */
  output: Json;
}

export interface Runtime {
  run(job: Job): Promise<Result>;
}
