/** A tree behind a fence while it lives: which process is its first, how it is asked to end, what it may use. */
import type { Readable } from 'node:stream';
import { BosunError } from '../../contract/errors.ts';
import type { Breach } from '../../system/process/fence.ts';
import { childOfLauncher } from './child-of-launcher.ts';
import { holdStill } from './hold-still.ts';
import { ProcessTable } from '../limits/process-table.ts';

const STATUS_CHARS_MAX = 4096;

/** What ends sooner uses little: it is not worth being watched. */
const HOLD_AFTER_MS = 20;
/** From then on the limits of a command that nobody can find are not held: it is ended. */
const FIND_MS_MAX = 30_000;
/** Long, for a machine that has other things to do. */
const DRAIN_MS_MAX = 10_000;

type Hold = (initPid: number, onBreach: (breach: Breach) => void) => () => void;

interface Init {
  pid: number;
  startTicks: number;
}

export class FencedTree {
  /** The command itself ended; else its surroundings could not be made, or it was ended from outside. */
  hasRun = false;
  readonly #launcherPid: () => number | undefined;
  readonly #channel: Readable;
  readonly #hold: Hold;
  #init: Init | undefined;
  #release: (() => void) | undefined;
  #asked: NodeJS.Signals | undefined;
  #timer: NodeJS.Timeout | undefined;
  #breach: Breach | undefined;
  #isOver = false;
  #isStill = false;

  /** `channel` is where bwrap says that the first process is there, and at the end how the command ended. */
  constructor(launcherPid: () => number | undefined, channel: Readable, hold: Hold) {
    this.#launcherPid = launcherPid;
    this.#channel = channel;
    this.#hold = hold;
    channel.on('error', () => {}); // it ended before it read its options: its exit code says so
    let said = '';
    channel.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('latin1')).slice(-STATUS_CHARS_MAX);
      if (said.includes('"exit-code"')) this.hasRun = true;
      else if (this.#asked) this.signal(this.#asked);
    });
  }

  /** The first process inside, as this machine numbers it; all others descend from it, and share its group at first. */
  get init(): Init | undefined {
    if (this.#init === undefined && !this.#isOver) {
      const launcher = this.#launcherPid();
      const bwrap = launcher && childOfLauncher(launcher);
      const pid = bwrap && childOfLauncher(bwrap);
      const startTicks = pid && new ProcessTable().read(pid)?.startTicks;
      if (pid !== undefined && startTicks !== undefined) this.#init = { pid, startTicks };
    }
    return this.#init;
  }

  /** Its processes do nothing for now. */
  get isStill(): boolean {
    return this.#isStill;
  }

  /** One at a time. */
  async still<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { init } = this;
    if (init === undefined || this.#isOver || this.#isStill)
      throw new BosunError('busy', 'your processes cannot be held still now; try again');
    this.#isStill = true;
    try {
      return await holdStill(init.pid, act);
    } finally {
      this.#isStill = false;
    }
  }

  /** bwrap and the first process inside take no notice of it: they end when the command does. */
  signal(signal: NodeJS.Signals): void {
    const { init } = this;
    const isTold = init !== undefined && kill(-init.pid, signal);
    this.#asked = isTold ? undefined : signal; // it is still being made
  }

  /** From now on it has a command, and its limits are held. */
  hold(untilMs = performance.now() + FIND_MS_MAX): void {
    this.#timer = setTimeout(() => {
      if (this.#isOver) return;
      if (this.init === undefined) {
        if (performance.now() < untilMs) return this.hold(untilMs); // it is still being made
        return this.#giveUp();
      }
      this.#release = this.#hold(this.init.pid, (breach) => (this.#breach ??= breach));
      if (this.#asked) this.signal(this.#asked);
    }, HOLD_AFTER_MS);
  }

  #giveUp(): void {
    const launcher = this.#launcherPid();
    this.#breach ??= {
      limit: 'processes',
      message: 'its processes could not be found in /proc, so its limits could not be held; it was ended',
    };
    if (launcher !== undefined) kill(launcher, 'SIGKILL'); // all the others die with it
  }

  /** Waits until bwrap has said all that it will. */
  async drained(): Promise<void> {
    if (this.hasRun || this.#channel.closed || this.#channel.readableEnded) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS_MAX);
      const look = (): void => {
        if (!this.hasRun && !this.#channel.readableEnded && !this.#channel.closed) return;
        clearTimeout(timer);
        for (const event of ['data', 'end', 'close']) this.#channel.off(event, look);
        resolve();
      };
      for (const event of ['data', 'end', 'close']) this.#channel.on(event, look);
    });
  }

  /** Gives the limit for which it was ended, if it was. */
  end(): Breach | undefined {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#release?.();
    this.#channel.destroy();
    return this.#breach;
  }
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it is gone, or not there yet
  }
}
