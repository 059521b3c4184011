/** What the work of each task's last attempt is compared with, from the events of a run. */
import type { Event } from '../contract/event.ts';

export class AttemptBases {
  readonly #bases = new Map<string, string>();
  readonly #settling = new Set<string>();

  add(event: Event): void {
    if (event.type === 'attempt.started') {
      if (event.purpose === 'resolve') this.#settling.add(event.task);
      else this.#settling.delete(event.task);
    }
    if (event.type !== 'attempt.workspace') return;
    // A conflict is settled on a commit with its markers in it; its first parent is the branch without the task.
    this.#bases.set(event.task, this.#settling.has(event.task) ? `${event.base}^1` : event.base);
  }

  of(task: string): string | undefined {
    return this.#bases.get(task);
  }

  /** Whether the last attempt settles a conflict. */
  isSettling(task: string): boolean {
    return this.#settling.has(task);
  }
}
