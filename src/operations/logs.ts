/** The events of a run, as they are and as they come. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { Reading } from '../contract/operations.ts';
import type { ReadTo } from '../contract/outputs.ts';
import { isOpen, type ShownRunState } from '../contract/run.ts';
import { requireTask } from './find-task.ts';
import { findRun, openJournal, openOwnJournal, shownState } from '../run/journal.ts';

const PAGE = 1000;
/** Readers want to see an agent's line as it comes. */
const LOOK_MS = 10;

type LogOptions = Reading<'logs'>;

/** Gives the run and how it stood when there was nothing more to read. */
export async function* logs(options: LogOptions): AsyncGenerator<Recorded[], ReadTo> {
  if (options.types) await checkTypes(options.types);
  await using journal = await (options.follow ? openOwnJournal : openJournal)(options.cwd);
  const { store } = journal;
  const { id } = await findRun(journal, options.run);
  const task =
    options.task === undefined ? undefined : (await requireTask(id, await store.tasks(id), options.task)).id;
  let afterSeq = options.afterSeq ?? 0;
  let state: ShownRunState = 'interrupted';
  for await (const _ of store.changes(options.signal ?? new AbortController().signal, {
    lookMs: LOOK_MS,
  })) {
    state = await shownState(journal, await findRun(journal, id));
    const isLive = isOpen({ state });
    for (;;) {
      const page = await store.read(id, {
        afterSeq,
        limit: PAGE,
        ...(options.withoutOutput && { withoutOutput: true }),
        ...(options.types && { types: options.types }),
        ...(task !== undefined && { around: task }),
      });
      if (page.length === 0) break;
      afterSeq = page.at(-1)!.seq;
      yield page;
    }
    if (!options.follow || !isLive) break;
  }
  return { run: id, state };
}

async function checkTypes(types: readonly string[]): Promise<void> {
  const { unknownType } = await import('../contract/check-event.ts');
  const unknown = unknownType(types);
  if (unknown !== undefined)
    throw new BosunError(
      'usage',
      `logs: there are no events of the type ${JSON.stringify(unknown)}; docs/events.md lists the types`,
    );
}
