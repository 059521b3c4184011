/**
 * `bosun work`: drives the runs that wait in the queue of a repository, the oldest first, a bounded number at once.
 * Any number of processes may look at one queue: each run is claimed for one engine.
 */
import type { Asked, OutputOf } from '../contract/operations.ts';
import { BosunError } from '../contract/errors.ts';
import type { ShownRunState } from '../contract/run.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import { EnginePool } from '../run/engine-pool.ts';
import { isQueuedHere, notQueuedHere } from '../run/own-seal.ts';
import { openQueue, type OpenedQueue } from '../run/run-queue.ts';
import { agentsAtOnce } from '../run/shared-machine.ts';
import type { Store } from '../store/store.ts';
import { isOfMachine, startQueued, type LiveRun } from './run.ts';

/** Runs of others among those that wait: an engine has them, and has not begun. */
const OTHERS_MAX = 100;
/** Where nothing is said: slots are for agents, and a run has several, or none. */
const AT_ONCE_MAX = 64;

/** Runs that could not be driven, and are left as they are; more are no matter of single runs. */
const LEFT_OUT_MAX = 100;

export type WorkOptions = Asked<'work'> & {
  /** Runs share an engine of these. */
  engines?: EnginePool;
  /** Is told of each run that was begun here, and again when it has ended; of one that is left out, why. */
  told?(run: { run: string; state: ShownRunState; why?: string }): void;
  /** Is given each run that was begun here. */
  begun?(live: LiveRun): void;
};

/** Resolves when none is left, and those that were begun here have ended; with `stay`, when the signal says so. */
export async function workOnQueue(options: WorkOptions): Promise<OutputOf<'work'>> {
  await using queue = await openQueue(options.cwd);
  await using own = options.engines ? undefined : new EnginePool();
  const { store } = queue;
  const engines = own ?? options.engines!;
  const atOnce = options.atOnce ?? slotsOf(queue);
  const ended = { done: 0, failed: 0, cancelled: 0 };
  const under = new Map<string, Promise<void>>();
  const trouble = new AbortController();
  const stop = AbortSignal.any([trouble.signal, ...(options.signal ? [options.signal] : [])]);
  const leftOut = new Map<string, unknown>();
  const strange = new Set<string>();
  const leaveOut = (run: string, error: unknown, state: 'pending' | 'interrupted'): void => {
    leftOut.set(run, error);
    options.told?.({ run, state, why: error instanceof Error ? error.message : String(error) });
    if (leftOut.size >= LEFT_OUT_MAX) trouble.abort(tellLeftOut(leftOut));
  };
  const drive = async (run: string): Promise<void> => {
    const begun = await startQueued({ ...options, engines, run });
    if (!begun) return; // another engine was faster
    if ('fault' in begun) return leaveOut(run, begun.fault, 'pending');
    const { live, why } = begun;
    options.begun?.(live);
    options.told?.({ run, state: 'running', ...(why !== undefined && { why }) });
    let state: ShownRunState;
    try {
      ({ state } = await live.finished);
    } catch (error) {
      if (isOfMachine(error)) throw error;
      return leaveOut(run, error, 'interrupted');
    }
    if (state === 'done' || state === 'failed' || state === 'cancelled') ended[state]++;
    options.told?.({ run, state });
  };
  /** False where nothing is left that is for this one to do. */
  const fill = async (wake: () => void): Promise<boolean> => {
    const room = atOnce - under.size;
    const waiting =
      room > 0 ? await store.pendingRuns(atOnce + OTHERS_MAX + leftOut.size + strange.size) : [];
    for (const { id } of waiting) {
      if (under.size >= atOnce || stop.aborted) break;
      if (under.has(id) || leftOut.has(id) || strange.has(id) || (await store.driver(id))) continue;
      let isOwn: boolean;
      try {
        isOwn = await isQueuedHere(options.cwd, store, id);
      } catch (error) {
        if (isOfMachine(error)) throw error;
        leaveOut(id, error, 'pending');
        continue;
      }
      if (!isOwn) {
        strange.add(id);
        options.told?.({ run: id, state: 'pending', why: notQueuedHere(id) });
        continue;
      }
      const work = drive(id).catch((error: unknown) => trouble.abort(error));
      const over = (): void => (under.delete(id), wake());
      under.set(id, work.then(over));
    }
    return under.size > 0;
  };
  try {
    await whenever(store, stop, async (wake) => (await fill(wake)) || options.stay === true);
  } finally {
    await Promise.all(under.values());
  }
  if (trouble.signal.aborted) throw trouble.signal.reason as Error;
  if (leftOut.size > 0) throw tellLeftOut(leftOut);
  return ended;
}

/** The first of them with its reason; an error that nobody foresaw as it is. */
function tellLeftOut(leftOut: ReadonlyMap<string, unknown>): unknown {
  const [[run, error]] = [...leftOut] as [[string, unknown]];
  if (!(error instanceof BosunError)) return error;
  const more = leftOut.size - 1;
  const others = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'run' : 'runs'})`;
  return new BosunError(error.code, `run ${run} was left out${others}: ${error.message}`, { cause: error });
}

/** Looks at the beginning, after each change and each time that it is woken, until it says no, or nobody wants it. */
async function whenever(
  store: Store,
  stop: AbortSignal,
  look: (wake: () => void) => Promise<boolean>,
): Promise<void> {
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const over = new AbortController();
  const watched = (async () => {
    for await (const _ of store.changes(AbortSignal.any([stop, over.signal]))) wake();
  })();
  const ended = watched.finally(() => over.abort()); // whoever cannot look any more waits for nothing
  ended.then(wake, wake);
  try {
    while (!stop.aborted && !over.signal.aborted && (await look(wake))) {
      await woken.promise;
      woken = Promise.withResolvers<void>();
    }
  } finally {
    over.abort();
  }
  await ended;
}

function slotsOf({ home }: OpenedQueue): number {
  return Math.min(AT_ONCE_MAX, agentsAtOnce(loadConfigs([home.config, userConfigFile()])));
}
