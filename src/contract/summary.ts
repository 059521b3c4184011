/** What is summed up for agents: texts that are too long for a prompt. Types only. */
import type { ValueRef } from './event.ts';

export type SummaryDecision =
  /**
   * What the task's prompt gets from others is too long, and the agent that `summarize` names sums it up first: a task
   * within is added for each text that nobody has summed up in this run.
   */
  { type: 'task.summarizing'; task: string; agent: string; texts: LongText[] };

/** A text that is too long for a prompt, and who sums it up. */
export interface LongText {
  /** The SHA-256 of the text. */
  hash: string;
  /** Where it comes from, as people read it. */
  what: string;
  /** The task that sums it up. */
  by: string;
  /** The text itself, where that task is new. */
  text?: string;
  textRef?: ValueRef;
}
