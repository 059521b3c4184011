/** Walks through what a store has a lot of, a page at a time: never all of it in memory. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { RunView } from '../contract/run.ts';
import type { ReadOptions, RunsOptions, Store } from './store.ts';

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

/** The newest first; all that there are, where nothing else is asked for. */
export async function* runsOf(
  store: Store,
  {
    sinceMs = 0,
    page: limit = RUNS_PER_PAGE,
    ...options
  }: RunsOptions & { sinceMs?: number; page?: number } = {},
): AsyncGenerator<RunView> {
  let { before } = options;
  for (;;) {
    const page = await store.runs(limit, { ...options, ...(before !== undefined && { before }) });
    for (const run of page) {
      if (run.createdAtMs < sinceMs) return;
      yield run;
    }
    if (page.length < limit) return;
    before = page.at(-1)!.id;
  }
}

export function noBeginning(run: string): BosunError {
  return new BosunError(
    'journal',
    `the journal is damaged: it has no beginning of run ${run}. Its work is kept, see: git --git-dir=<git directory>/bosun/git log bosun/${run} ; start a new run with: bosun run`,
  );
}
