/** The library door: the operations as methods on an open repository. It holds no logic. */
import type { Recorded } from '../contract/event.ts';
import type { RunReport } from '../contract/report.ts';
import type { RunView } from '../contract/run.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { diffOf, type Diff } from '../operations/changes.ts';
import { mergeRun, type Merged } from '../operations/merge.ts';
import { answerQuestion, cancelRun } from '../operations/interrupt.ts';
import { logs } from '../operations/logs.ts';
import { reportOf } from '../operations/report.ts';
import { resumeRun, retryTask, startRun, type LiveRun, type WatchOptions } from '../operations/run.ts';
import { history, statusOf, type ShownRun, type Status } from '../operations/status.ts';

export interface RunOptions extends WatchOptions {
  inputs?: Record<string, Json>;
  dirty?: boolean;
}

export class Bosun {
  readonly #cwd: string;

  /** `directory` lies in a git repository. */
  constructor(directory: string) {
    this.#cwd = directory;
  }

  run(workflow: Workflow, options: RunOptions = {}): Promise<LiveRun> {
    return startRun({ cwd: this.#cwd, workflow, source: 'library', ...options });
  }

  resume(run?: string, options: WatchOptions = {}): Promise<LiveRun> {
    return resumeRun({ cwd: this.#cwd, ...named(run), ...options });
  }

  retry(task: string, run?: string, options: WatchOptions = {}): Promise<LiveRun> {
    return retryTask({ cwd: this.#cwd, task, ...named(run), ...options });
  }

  cancel(run?: string, options: { now?: boolean } = {}): Promise<RunView> {
    return cancelRun({ cwd: this.#cwd, ...named(run), ...options });
  }

  answer(answer: 'yes' | 'no', question?: string, run?: string): Promise<{ run: string; question: string }> {
    return answerQuestion({
      cwd: this.#cwd,
      answer,
      ...named(run),
      ...(question !== undefined && { question }),
    });
  }

  status(run?: string): Promise<Status> {
    return statusOf({ cwd: this.#cwd, ...named(run) });
  }

  history(limit?: number): Promise<ShownRun[]> {
    return history({ cwd: this.#cwd, ...(limit !== undefined && { limit }) });
  }

  events(
    run?: string,
    options: { follow?: boolean; afterSeq?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Recorded[]> {
    return logs({ cwd: this.#cwd, ...named(run), ...options });
  }

  diff(run?: string, task?: string): Promise<Diff> {
    return diffOf({ cwd: this.#cwd, ...named(run), ...(task !== undefined && { task }) });
  }

  report(run?: string): Promise<RunReport> {
    return reportOf({ cwd: this.#cwd, ...named(run) });
  }

  merge(
    run?: string,
    options: { squash?: boolean; trust?: boolean; unfenced?: boolean } = {},
  ): Promise<Merged> {
    return mergeRun({ cwd: this.#cwd, ...named(run), ...options });
  }
}

function named(run: string | undefined): { run?: string } {
  return run === undefined ? {} : { run };
}
