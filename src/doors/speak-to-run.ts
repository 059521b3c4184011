/** What people and programs say to a run that another process drives: each word is an operation of the table. It keeps nothing. */
import type { Actor } from '../contract/actor.ts';
import { perform } from '../operations/perform.ts';

export interface SpokenTo {
  /** Resolves once the run has ended. */
  cancel(mode: 'graceful' | 'now'): Promise<void>;
  /** The run with all its tasks, where none is named. */
  pause(task?: string): Promise<void>;
  unpause(task?: string): Promise<void>;
  /** Says something to the agent of a task. */
  steer(task: string, text: string): Promise<void>;
  /** As a person says it; rejects what does not fit the question. */
  answer(question: string, answer: string | readonly string[]): Promise<void>;
}

export function speakTo(run: string, around: { cwd: string; by: Actor }): SpokenTo {
  const named = (task: string | undefined): { name?: string } => (task === undefined ? {} : { name: task });
  return {
    async cancel(mode) {
      await perform('cancel', { run, ...(mode === 'now' && { now: true }) }, around);
    },
    async pause(task) {
      await perform('pause', { run, ...named(task) }, around);
    },
    async unpause(task) {
      await perform('unpause', { run, ...named(task) }, around);
    },
    async steer(task, text) {
      await perform('steer', { run, task, text }, around);
    },
    async answer(question, answer) {
      const said = typeof answer === 'string' ? { answer } : { chosen: answer };
      await perform('answer', { run, question, ...said }, around);
    },
  };
}
