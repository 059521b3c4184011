/** Waits for runs to end, whoever drives them. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';

export type WaitOptions = Reading<'wait'> & {
  /** Is told, once of each, of a run that waits for a person: with the queue, the pause, or the questions, that are new. */
  needsPerson?(run: RunView): void;
};

/** Resolves with the runs as they ended; rejects where nobody drives one that has not. */
export async function waitForRuns({ cwd, runs = [], signal, needsPerson }: WaitOptions): Promise<RunView[]> {
  await using journal = await openJournal(cwd);
  const named = runs.length === 0 ? [undefined] : runs;
  const ids = await Promise.all(named.map(async (run) => (await findRun(journal, run)).id));
  const told = new Set<string>();
  const isNew = (what: string): boolean => !told.has(what) && told.add(what).has(what);
  for await (const _ of journal.store.changes(signal ?? new AbortController().signal)) {
    const views = await Promise.all(ids.map((id) => findRun(journal, id)));
    for (const view of views) {
      const state = await shownState(journal, view);
      const { paused, pending, questions, ...rest } = view;
      const isQueued = state === 'pending' && isNew(`${view.id} in the queue`);
      const isPaused = state === 'paused' && isNew(`${view.id} ${paused!.sinceMs}`);
      const asked = isOpen(view) ? questions.filter(({ id }) => isNew(`${view.id} ${id}`)) : [];
      if (isQueued || isPaused || asked.length > 0)
        needsPerson?.({
          ...rest,
          ...(isQueued && { pending: pending! }),
          ...(isPaused && { paused: paused! }),
          questions: asked,
        });
      if (state === 'interrupted')
        throw new BosunError(
          'wrong-state',
          `run ${view.id} was interrupted: its bosun process is gone; continue with: bosun resume ${view.id}`,
        );
    }
    if (!views.some(isOpen)) return views;
  }
  signal?.throwIfAborted();
  return [];
}
