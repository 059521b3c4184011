/** What became of the message that was typed last for an agent: queued, read, or the task ended first. It sends nothing. */
import type { Recorded } from '../../../contract/event.ts';

export class QueuedMessage {
  #to: { task: string; label: string } | undefined;

  /** Gives what to show. */
  queue(task: string, label: string): string {
    this.#to = { task, label };
    return `message queued for ${label}`;
  }

  /** Something else is shown: nobody is told of it any more. */
  forget(): void {
    this.#to = undefined;
  }

  /** Gives what to show, where it changes. */
  seen(events: readonly Recorded[]): string | undefined {
    const to = this.#to;
    if (to === undefined) return undefined;
    for (const { event } of events) {
      if (event.type === 'attempt.steered' && event.task === to.task) return `${to.label} read the message`;
      if (event.type === 'task.finished' && event.task === to.task)
        return `${to.label} ended before it read the message`;
    }
    return undefined;
  }
}
