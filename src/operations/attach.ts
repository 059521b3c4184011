/** A run that another process drives, watched through the journal. It drives nothing and changes nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { Asked } from '../contract/operations.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';
import { logs } from './logs.ts';

/** The signal stops the watching; the run goes on. */
export type AttachOptions = Asked<'attach'> & { seen(events: Recorded[]): void };

export interface AttachedRun {
  id: string;
  /** As it stood when the watching began: what comes then is told. */
  run: RunView;
  /** Resolves with the run as it ended; with nothing where the watching was ended first. */
  finished: Promise<RunView | undefined>;
}

export async function attachRun(options: AttachOptions): Promise<AttachedRun> {
  const { cwd } = options;
  await using journal = await openJournal(cwd);
  const run = await findRun(journal, options.run);
  const state = await shownState(journal, run);
  if (!isOpen({ state })) throw notAtWork(run.id, state);
  const { id, lastSeq } = run;
  if (options.past)
    for await (const page of logs({ cwd, run: id, withoutOutput: true })) {
      const known = page.filter(({ seq }) => seq <= lastSeq);
      options.seen(known);
      if (known.length < page.length) break;
    }
  const finished = follow(options, id, lastSeq);
  finished.catch(() => {}); // whoever awaits it is told
  return { id, run, finished };
}

async function follow(
  { cwd, seen, signal }: AttachOptions,
  run: string,
  afterSeq: number,
): Promise<RunView | undefined> {
  const events = logs({ cwd, run, afterSeq, follow: true, ...(signal && { signal }) });
  for (;;) {
    const next = await events.next();
    if (!next.done) {
      seen(next.value);
      continue;
    }
    if (signal?.aborted) return undefined;
    if (next.value.state === 'interrupted') throw notAtWork(run, next.value.state);
    await using journal = await openJournal(cwd);
    return findRun(journal, run);
  }
}

function notAtWork(id: string, state: string): BosunError {
  const next =
    state === 'interrupted'
      ? `its bosun process is gone; continue with: bosun resume ${id}`
      : `see: bosun report ${id}`;
  return new BosunError('wrong-state', `run ${id} is not at work: it is ${state}; ${next}`);
}
