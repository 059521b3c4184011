/** The events of a run, as they are and as they come. */
import type { Recorded } from '../contract/event.ts';
import type { ShownRunState } from '../contract/run.ts';
import { BosunError } from '../contract/errors.ts';
import { findRun, openJournal, shownState } from './journal.ts';

const PAGE = 1000;
const POLL_MS = 25;

export interface LogOptions {
  cwd: string;
  run?: string;
  task?: string;
  afterSeq?: number;
  /** Leaves out what agents printed. */
  withoutOutput?: boolean;
  /** Goes on until the run ends, or nobody drives it any more. */
  follow?: boolean;
  signal?: AbortSignal;
}

export interface ReadTo {
  run: string;
  state: ShownRunState;
}

/** Gives the run and how it stood when there was nothing more to read. */
export async function* logs(options: LogOptions): AsyncGenerator<Recorded[], ReadTo> {
  await using journal = await openJournal(options.cwd);
  const { store, home } = journal;
  const { id } = await findRun(journal, options.run);
  if (options.task !== undefined) await requireTask(options.task);
  let afterSeq = options.afterSeq ?? 0;
  for (;;) {
    const version = store.version();
    const state = shownState(home, await findRun(journal, id));
    const isLive = state === 'running' || state === 'cancelling';
    for (;;) {
      const page = await store.read(id, {
        afterSeq,
        limit: PAGE,
        ...(options.withoutOutput && { withoutOutput: true }),
        ...(options.task !== undefined && { task: options.task }),
      });
      if (page.length === 0) break;
      afterSeq = page.at(-1)!.seq;
      yield page;
    }
    if (!options.follow || !isLive || options.signal?.aborted) return { run: id, state };
    // Cheap to ask: nothing is read until somebody has written. Now and then it looks whether the engine lives.
    for (let n = 0; n < 20 && store.version() === version && !options.signal?.aborted; n++) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async function requireTask(task: string): Promise<void> {
    const tasks = await store.tasks(id);
    if (tasks.some((view) => view.id === task)) return;
    const { suggest } = await import('../base/suggest.ts');
    const close = suggest(
      task,
      tasks.map((view) => view.id),
    );
    throw new BosunError(
      'not-found',
      `run ${id} has no task ${task}${close ? `; did you mean ${close}?` : ''}`,
    );
  }
}
