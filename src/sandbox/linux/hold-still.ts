/**
 * Stops all processes of a sandbox for a moment, so that its files can be read as they are: nothing is half written, and
 * no name becomes a link while we look at it. Who wakes itself meanwhile, by a timer say, has nothing of it: what was done
 * is thrown away. It never ends a process, and leaves none stopped that it stopped.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BosunError } from '../../contract/errors.ts';
import { namesIn } from '../../system/files/names-in.ts';
import { ProcessTable, readState, type ProcessEntry } from '../limits/process-table.ts';

/** Long, for a machine that has other things to do. */
const STILL_MS_MAX = 5000;
/** Longer than it takes to read files of some gigabytes: who is held still neither works nor ends. */
const HELD_MS_MAX = 60_000;
const AGAIN_MS = 1;
/** How long it takes at most until who is in a system call is stopped; and how long a child may go on, see `letStart`. */
const SOON_MS = 20;
/** Stopped, traced by one that is stopped, or dead. */
const STILL = /[TtZX]/;

/** `initPid` is the first process inside, which is ours and only waits. `signal` aborts once this has taken too long. */
export async function holdStill<T>(initPid: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new Map<number, number>();
  const table = new ProcessTable(); // one for all looks: the first reads each process of the machine
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(heldTooLong()), HELD_MS_MAX);
  try {
    await stopAll(table, initPid, stopped);
    const before = turnsIn(table, initPid);
    const done = await act(tooLong.signal);
    if (turnsIn(table, initPid) !== before)
      throw new BosunError('busy', 'your processes went on while they were held still; nothing was taken');
    return done;
  } finally {
    clearTimeout(timer);
    for (const [pid, startTicks] of [...stopped].toReversed())
      if (table.read(pid)?.startTicks === startTicks) send(pid, 'SIGCONT');
  }
}

function heldTooLong(): BosunError {
  return new BosunError(
    'usage',
    `your files took more than ${HELD_MS_MAX / 1000} seconds to read, and your processes are not held still for longer; change fewer or smaller files`,
  );
}

/** Who forks before it is stopped leaves one more: so it is still when two looks in a row find the same, all stopped. */
async function stopAll(table: ProcessTable, initPid: number, stopped: Map<number, number>): Promise<void> {
  const untilMs = performance.now() + STILL_MS_MAX;
  let lookedMs = performance.now();
  for (let before: string | undefined; ;) {
    const all = table.trees(new Set([initPid]), performance.now()).get(initPid) ?? [];
    const inside = all.filter(({ pid }) => pid !== initPid);
    const moving = inside.filter((entry) => !isStill(entry));
    const seen = inside.map(({ pid, startTicks }) => `${pid}.${startTicks}`).join();
    if (moving.length === 0 && seen === before) return;
    before = moving.length === 0 ? seen : undefined;
    // Parents first, so that no parent sees its child stop.
    for (const { pid, startTicks } of moving.toSorted((a, b) => a.startTicks - b.startTicks)) {
      stopped.set(pid, startTicks);
      send(pid, 'SIGSTOP');
    }
    if (performance.now() - lookedMs > SOON_MS) {
      await letStart(inside, moving);
      lookedMs = performance.now();
    }
    if (performance.now() > untilMs)
      throw new BosunError('busy', 'your processes could not be held still; try again once they do less');
    if (moving.length > 0) await sleep(AGAIN_MS);
  }
}

/**
 * Who starts a program by vfork cannot be stopped before its child has become that program: where the child was stopped
 * on the way there it goes on for a moment.
 */
async function letStart(inside: readonly ProcessEntry[], moving: readonly ProcessEntry[]): Promise<void> {
  const waiting = new Set(moving.filter(({ state }) => state === 'D').map(({ pid }) => pid));
  const children = inside.filter(({ parentPid }) => waiting.has(parentPid));
  if (children.length === 0) return;
  for (const { pid } of children) send(pid, 'SIGCONT');
  await sleep(SOON_MS);
}

/** Who is there, and how often each thread of it has had its turn on a processor: the kernel counts that, and never back. */
function turnsIn(table: ProcessTable, initPid: number): string {
  const all = table.trees(new Set([initPid]), performance.now()).get(initPid) ?? [];
  return all
    .filter(({ pid }) => pid !== initPid)
    .flatMap(({ pid, startTicks }) =>
      namesIn(`/proc/${pid}/task`).map((thread) => `${pid}.${startTicks}.${thread} ${turnsOf(pid, thread)}`),
    )
    .toSorted()
    .join();
}

function turnsOf(pid: number, thread: string): string {
  try {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
    return [...status.matchAll(/ctxt_switches:\s+(\d+)/g)].map(([, turns]) => turns).join('+');
  } catch {
    return 'gone';
  }
}

/** All its threads: one may be on its way out of a system call when the first is stopped already. */
function isStill({ pid, state, threads }: ProcessEntry): boolean {
  if (threads < 2) return STILL.test(state);
  return namesIn(`/proc/${pid}/task`).every((thread) => STILL.test(readState(`/proc/${pid}/task/${thread}`)));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it is gone
  }
}
