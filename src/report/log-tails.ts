/** The last lines of what each task printed and its agents said, while the events of a run are read. */
import type { Event } from '../contract/event.ts';
import type { LogReport } from '../contract/report.ts';
import { agentLine } from '../schedule/views/agent-line.ts';
import { REPORT_LIMITS } from './limits.ts';
import { LogTail } from './text/log-tail.ts';

export class LogTails {
  readonly #tails = new Map<string, LogTail>();

  /** `taskCount`: how many share the room that there is. */
  add(event: Event, taskCount: number): void {
    if (event.type === 'attempt.output') this.#of(event.task).add(event, charsEach(taskCount));
    if (event.type !== 'attempt.agent') return;
    const { kind } = event.event;
    // What is changed and what went wrong have places of their own.
    const line = kind === 'file-changed' || kind === 'error' ? undefined : agentLine(event.event);
    if (line === undefined) return;
    const said = { attempt: event.attempt, stream: 'agent' as const, text: `${line}\n` };
    this.#of(event.task).add(said, charsEach(taskCount));
  }

  chars(task: string): number {
    return this.#tails.get(task)?.chars() ?? 0;
  }

  report(task: string, charsMax: number): LogReport {
    return this.#tails.get(task)?.report(charsMax) ?? { lines: [], linesLeftOut: 0, droppedBytes: 0 };
  }

  #of(task: string): LogTail {
    let tail = this.#tails.get(task);
    if (!tail) this.#tails.set(task, (tail = new LogTail()));
    return tail;
  }
}

/** What a tail may hold while many are kept: the limit of one, or a part of four times the limit of all. */
function charsEach(taskCount: number): number {
  return Math.min(REPORT_LIMITS.logCharsPerTask, (4 * REPORT_LIMITS.logCharsInAll) / taskCount);
}
