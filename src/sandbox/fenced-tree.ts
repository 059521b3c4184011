/** A tree behind a fence while it lives: which process is its first, how it is asked to end, what it may use. */
import type { Readable } from 'node:stream';
import type { Breach } from '../system/fence.ts';
import { onlyChildOf } from './only-child.ts';
import { ProcessTable } from './limits/process-table.ts';

const STATUS_CHARS_MAX = 4096;

type Hold = (initPid: number, onBreach: (breach: Breach) => void) => () => void;

export class FencedTree {
  /** The first process inside, as this machine numbers it; all others descend from it, and share its group at first. */
  init: { pid: number; startTicks: number } | undefined;
  /** The command itself ended; else its surroundings could not be made, or it was ended from outside. */
  hasRun = false;
  readonly #launcherPid: () => number | undefined;
  readonly #channel: Readable;
  readonly #hold: Hold;
  #release: (() => void) | undefined;
  #asked: NodeJS.Signals | undefined;
  #breach: Breach | undefined;
  #isHeld = false;
  #isOver = false;

  /** `channel` is where bwrap says that the first process is there, and at the end how the command ended. */
  constructor(launcherPid: () => number | undefined, channel: Readable, hold: Hold) {
    this.#launcherPid = launcherPid;
    this.#channel = channel;
    this.#hold = hold;
    channel.on('error', () => {}); // it ended before it read its options: its exit code says so
    let said = '';
    channel.on('data', (chunk: Buffer) => {
      if (said === '') this.#started();
      said = (said + chunk.toString('latin1')).slice(-STATUS_CHARS_MAX);
      if (said.includes('"exit-code"')) this.hasRun = true;
    });
  }

  /** bwrap and the first process inside take no notice of it: they end when the command does. */
  signal(signal: NodeJS.Signals): void {
    this.#asked = signal;
    if (this.init !== undefined) kill(-this.init.pid, signal);
  }

  /** From now on it has a command, and its limits are held. */
  hold(): void {
    this.#isHeld = true;
    if (this.init !== undefined) this.#startHolding(this.init.pid);
  }

  /** Gives the limit for which it was ended, if it was. */
  end(): Breach | undefined {
    this.#isOver = true;
    this.#release?.();
    this.#channel.destroy();
    return this.#breach;
  }

  #started(): void {
    const launcher = this.#launcherPid();
    if (this.#isOver || launcher === undefined) return;
    const bwrap = onlyChildOf(launcher);
    const pid = bwrap && onlyChildOf(bwrap);
    const startTicks = pid && new ProcessTable().read(pid)?.startTicks;
    if (pid === undefined || startTicks === undefined) return; // it has ended already
    this.init = { pid, startTicks };
    if (this.#isHeld) this.#startHolding(pid);
    if (this.#asked) kill(-pid, this.#asked);
  }

  #startHolding(pid: number): void {
    if (!this.#isOver) this.#release ??= this.#hold(pid, (breach) => (this.#breach ??= breach));
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it is gone
  }
}
