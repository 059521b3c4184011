/** The events of all runs of a repository, in the order in which they were written. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { FollowedEvent, ReadUpTo } from '../contract/outputs.ts';
import type { Cursor, Store } from '../store/store.ts';
import { findRun, openJournal, openOwnJournal, prepareJournal } from '../run/journal.ts';

const PAGE = 1000;
/** Readers want to see an agent's line as it comes. */
const LOOK_MS = 10;
/** The last part says of which journal it is. */
const CURSOR = /^(\d{1,15})\.(\d{1,15})(?:\.([0-9a-f]{1,32}))?$/;

export type FollowEventsOptions = Reading<'events'> & {
  /** The next events are not read before it has taken these. */
  seen(events: FollowedEvent[]): Promise<void> | void;
};

export async function followEvents(options: FollowEventsOptions): Promise<ReadUpTo> {
  const { cwd, withoutOutput = false, limit = Infinity, follow = false, signal, seen } = options;
  if (follow || options.fromNow) await prepareJournal(cwd);
  await using journal = await (follow ? openOwnJournal : openJournal)(cwd);
  const { store } = journal;
  const run = options.run === undefined ? {} : { run: (await findRun(journal, options.run)).id };
  const head = await store.head();
  const identity = await store.identity();
  const spell = ({ batch, seq }: Cursor): string => `${batch}.${seq}.${identity}`;
  const given = readCursor(options.after);
  let after: Cursor = options.fromNow ? head : given;
  if (after.batch > head.batch || (given.identity ?? identity) !== identity)
    throw new BosunError(
      'not-found',
      `there is no event ${options.after} in this journal: it is from another one; read from the beginning`,
    );
  for await (const _ of looks(store, follow, signal)) {
    for (let left = limit; left > 0;) {
      const page = await store.follow({ after, ...run, withoutOutput, limit: Math.min(PAGE, left) });
      const last = page.at(-1);
      if (!last || signal?.aborted) break;
      left -= page.length;
      await seen(page.map(({ recorded, cursor }) => ({ ...recorded, cursor: spell(cursor) })));
      after = last.cursor;
    }
  }
  return { cursor: spell(after) };
}

/** Once, or again each time that somebody has written. */
async function* looks(
  store: Store,
  follow: boolean,
  signal = new AbortController().signal,
): AsyncGenerator<void> {
  if (follow) yield* store.changes(signal, { lookMs: LOOK_MS });
  else yield;
}

function readCursor(text: string | undefined): Cursor & { identity?: string } {
  if (text === undefined) return { batch: 0, seq: 0 };
  const [, batch, seq, identity] = CURSOR.exec(text) ?? [];
  if (batch === undefined)
    throw new BosunError(
      'usage',
      `events: after must be the cursor of an event, such as 12.345.0f3a9c27b1d4; not ${text}`,
    );
  return { batch: Number(batch), seq: Number(seq), ...(identity !== undefined && { identity }) };
}
