/**
 * Merges the results of a run's tasks, one at a time, since each merge builds on the one before. What comes of it is
 * a fact; it never decides what to do about a conflict.
 */
import type { Stages } from '../attempt/attempt.ts';
import type { EventOf } from '../contract/event.ts';
import { mergeResult, setBranch } from '../merge/merge.ts';
import { mergeMessage } from '../merge/message.ts';
import { nodeOf } from '../schedule/state.ts';
import { agentOf, onConflict } from '../schedule/workflow/agent-of.ts';
import { titleOf } from '../schedule/workflow/prompt.ts';
import type { Loop } from './loop.ts';

export interface MergeQueueOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  stages: Pick<Stages, 'git'>;
  nowMs(): number;
}

export class MergeQueue {
  readonly #options: MergeQueueOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: MergeQueueOptions) {
    this.#options = options;
  }

  /** Resolves once it is in the run's state. */
  add(merging: EventOf<'task.merging'>): Promise<void> {
    this.#last = this.#last.then(() => this.#merge(merging));
    return this.#last;
  }

  async #merge({ task, attempt, commit }: EventOf<'task.merging'>): Promise<void> {
    const { loop, stages, nowMs } = this.#options;
    const { state } = loop;
    const node = nodeOf(state, task);
    // The work of a race is that of the candidate that was picked.
    const worker = node.picked ? nodeOf(state, node.picked.candidate) : node;
    const agent = agentOf(worker, 'work')?.name;
    const message = mergeMessage({
      title: titleOf(state, node),
      run: state.id,
      task,
      attempt: attempt || worker.attempt,
      ...(agent !== undefined && { agent }),
      ...(node.spending && { costUsd: node.spending.unpriced > 0 ? null : node.spending.usd }),
    });
    const merged = await mergeResult({
      git: stages.git,
      shadow: state.shadow,
      head: state.head,
      base: state.base,
      result: commit,
      message,
      author: await stages.git.repository.identity(),
      onConflict: onConflict(node),
      atMs: nowMs(),
    });
    if (merged.kind === 'conflict') {
      const { conflict, marked } = merged;
      loop.submit({ type: 'task.conflicted', task, attempt, conflict, marked });
      return;
    }
    const { kind: _, ...rest } = merged;
    // Before the journal says so: a branch that is ahead is set again, one that was never set would be missed.
    if (rest.commit !== undefined) await setBranch(stages.git, state.id, rest.commit);
    loop.submit({ type: 'task.merged', task, attempt, ...rest });
    // The next merge reads the heads from the state: wait until this one is in it.
    await this.#settled(() => node.state !== 'merging' || node.merged !== undefined);
  }

  async #settled(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#options.loop.isOver) await new Promise((resolve) => setImmediate(resolve));
  }
}
