/**
 * How far an attempt is, as its agent says: the latest goes into the journal, no more often than people can read it. What
 * comes sooner waits, and is replaced by what comes after it.
 */
import type { EventOf } from '../contract/event.ts';
import type { CrewTools } from '../crew/tools.ts';
import { awakeMs } from '../base/awake.ts';

const PAUSE_MS_MIN = 1000;
/** The longer an attempt works, the fewer of its reports are kept: about 1,500 in a day. */
const PAUSES = 200;

type Told = Omit<EventOf<'attempt.progress'>, 'type' | 'task' | 'attempt'>;

export class ProgressTeller implements Disposable {
  readonly #emit: (told: Told) => void;
  readonly #beganMs = awakeMs();
  #lastMs = -Infinity;
  #waiting: Told | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (told: Told) => void) {
    this.#emit = emit;
  }

  report: CrewTools['report_progress'] = async ({ text, percent }) => {
    const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
    this.#waiting = { text: line, ...(percent !== undefined && { percent: Math.round(percent) }) };
    const nowMs = awakeMs();
    const pauseMs = Math.max(PAUSE_MS_MIN, (nowMs - this.#beganMs) / PAUSES);
    const leftMs = this.#lastMs + pauseMs - nowMs;
    if (leftMs <= 0) this.#tell();
    else this.#timer ??= setTimeout(() => this.#tell(), leftMs);
    return { recorded: leftMs <= 0 };
  };

  /** What waits is told, also where the attempt ends first. */
  [Symbol.dispose](): void {
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === undefined) return;
    this.#emit(this.#waiting);
    this.#waiting = undefined;
    this.#lastMs = awakeMs();
  }
}
