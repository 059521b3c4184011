/** A started child as the leader of its own process group: how it is asked, ended and waited for. */
import type { Readable } from 'node:stream';
import { processExit, type StartedProcess, type Exit, type Running } from './process.ts';

/** How long output may still arrive after the end before the end is told anyway: longer while what came is still read. */
const DRAIN_MS = 1000;
const DRAIN_AGAIN_MS = 50;
const DRAIN_MS_MAX = 10_000;
/** Until a group that is not there yet is looked for again. */
const AGAIN_MS = 10;
/** How long a child may take to follow what it held. */
const KILL_MS = 200;

export interface GroupOptions {
  /**
   * Runs right after the child's own end: it ends what is left of the tree, throws where the end means that
   * the command never ran, and gives another exit where more is known of it.
   */
  settle(exit: Exit, killed: boolean): Promise<Exit | undefined>;
  /** How the command is asked, where it is not in the child's own group. */
  signal?(signal: NodeJS.Signals): void;
  /** Ends the tree in a gentler way than to end the child with it, if it can. */
  kill?(): boolean;
}

/** `child` must have been started detached. */
export function asGroup(
  child: StartedProcess,
  argv: string[],
  { settle, signal: ask, kill: end }: GroupOptions,
): Running {
  let ended = false;
  let killed = false;
  const send = (signal: NodeJS.Signals): void => {
    if (ended) return; // the number may belong to someone else by now
    if (child.pid === undefined) {
      child.once('spawn', () => send(signal)); // it is about to be started
      return;
    }
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It is gone already; or it has just been started and is no group yet, and nobody else would end it.
      if (signal === 'SIGKILL') setTimeout(send, AGAIN_MS, signal).unref();
    }
  };
  const exited = new Promise<Exit>((resolve, reject) => {
    const closed = processExit(child, argv);
    closed.catch(reject);
    child.once('exit', (code, signal) => {
      ended = true;
      const drain = drainTime(child);
      void (async () => {
        try {
          const exit = (await settle({ code, signal }, killed)) ?? { code, signal };
          await Promise.race([closed, drain.promise]);
          drain.stop();
          // Somebody who got away may still hold them; nobody reads on.
          child.stdout?.destroy();
          child.stderr?.destroy();
          resolve(exit);
        } catch (error) {
          drain.stop();
          reject(error);
        }
      })();
    });
  });
  exited.catch(() => {}); // whoever waits is told; nobody may be waiting yet
  return {
    get pid() {
      return child.pid ?? 0;
    },
    stdout: child.stdout!,
    stderr: child.stderr!,
    exited,
    signal(signal) {
      if (ask === undefined) send(signal);
      else if (!ended) ask(signal);
    },
    kill() {
      killed = true;
      if (ended || end?.() !== true) return send('SIGKILL');
      setTimeout(send, KILL_MS, 'SIGKILL').unref();
    },
  };
}

/** Whoever reads it may take its time: on a busy machine, or since it hands on a little at a time. */
function drainTime({ stdout, stderr }: StartedProcess): { promise: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const endMs = performance.now() + DRAIN_MS_MAX;
  const isUnread = (stream: Readable | null): boolean =>
    stream !== null && !stream.destroyed && stream.readableLength > 0;
  // What was just taken is followed by what the system still holds: nothing is left where that is so twice.
  let isQuiet = false;
  const look = (): void => {
    const wasQuiet = isQuiet;
    isQuiet = !(isUnread(stdout) || isUnread(stderr));
    if (performance.now() >= endMs || (isQuiet && wasQuiet)) return resolve();
    timer = setTimeout(look, DRAIN_AGAIN_MS);
  };
  let timer = setTimeout(look, DRAIN_MS);
  return { promise, stop: () => clearTimeout(timer) };
}
