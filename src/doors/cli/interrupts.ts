/**
 * What Ctrl-C and signals do to a run that this process drives.
 *
 *            Ctrl-C, SIGTERM, SIGHUP            Ctrl-C
 * running ─────────────────────────▶ graceful ─────────▶ now
 */
import type { LiveRun } from '../../operations/run.ts';

const CANCELLED_EXIT = 3;

type Cancellable = Pick<LiveRun, 'cancel'>;

export class Interrupts implements Disposable {
  readonly #say: (text: string) => void;
  readonly #onInt = (): void => this.press();
  readonly #onEnd = (): void => this.#stop('graceful');
  #live: Cancellable | undefined;
  #mode: 'graceful' | 'now' | undefined;

  constructor(say: (text: string) => void) {
    this.#say = say;
    process.on('SIGINT', this.#onInt);
    process.on('SIGTERM', this.#onEnd);
    process.on('SIGHUP', this.#onEnd);
  }

  /** From now on there is something to cancel; what was asked before is not forgotten. */
  attach(live: Cancellable): void {
    this.#live = live;
    if (this.#mode) live.cancel(this.#mode);
  }

  /** Ctrl-C. */
  press(): void {
    // Nothing runs yet, so nothing can be lost.
    if (this.#mode !== undefined && !this.#live) process.exit(CANCELLED_EXIT);
    this.#stop(this.#mode === undefined ? 'graceful' : 'now');
  }

  #stop(mode: 'graceful' | 'now'): void {
    if (this.#mode === mode || this.#mode === 'now') return;
    this.#mode = mode;
    this.#say(
      mode === 'now'
        ? 'stopping now'
        : 'stopping: agents are asked to stop and their work is kept; Ctrl-C again stops them now',
    );
    this.#live?.cancel(mode);
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#onInt);
    process.off('SIGTERM', this.#onEnd);
    process.off('SIGHUP', this.#onEnd);
  }
}
