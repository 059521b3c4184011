/** Walks through what a store has a lot of, a page at a time: never all of it in memory. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { RunView } from '../contract/run.ts';
import type { ReadOptions, Store } from './store.ts';

const EVENTS_PER_PAGE = 500;
const RUNS_PER_PAGE = 500;

/** The events of a run, in order. */
export async function* eventsOf(
  store: Store,
  run: string,
  options: Omit<ReadOptions, 'limit'> = {},
): AsyncGenerator<Recorded> {
  for await (const page of pagesOf(store, run, options)) yield* page;
}

/** The same, a page at a time: for who looks at all of them, and at once. */
export async function* pagesOf(
  store: Store,
  run: string,
  options: Omit<ReadOptions, 'limit'> = {},
): AsyncGenerator<Recorded[]> {
  let afterSeq = options.afterSeq ?? 0;
  for (;;) {
    const page = await store.read(run, { ...options, afterSeq, limit: EVENTS_PER_PAGE });
    if (page.length === 0) return;
    yield page;
    afterSeq = page.at(-1)!.seq;
  }
}

/** All runs, the newest first. */
export async function* runsOf(store: Store): AsyncGenerator<RunView> {
  let last: string | undefined;
  for (;;) {
    const page = await store.runs(RUNS_PER_PAGE, last);
    yield* page;
    if (page.length < RUNS_PER_PAGE) return;
    last = page.at(-1)!.id;
  }
}

export function noBeginning(run: string): BosunError {
  return new BosunError(
    'journal',
    `the journal is damaged: it has no beginning of run ${run}. Its work is kept, see: git --git-dir=<git directory>/bosun/git log bosun/${run} ; start a new run with: bosun run`,
  );
}
