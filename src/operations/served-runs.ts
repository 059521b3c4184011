/** The runs of all served repositories as one list, which goes on behind any of them. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { ServedRun } from '../contract/serving-schema.ts';
import { openJournal } from '../run/journal.ts';
import { openRecords } from '../store/records/records.ts';
import { shownRuns } from './status.ts';

const LIMIT = 50;

/** Where it stands in the list; the same each time, also of those of one millisecond. */
type Place = Pick<ServedRun, 'repositoryId'> & { atMs: number; number: number };

export async function servedRuns({
  before,
  limit = LIMIT,
  ...asked
}: Reading<'servedRuns'>): Promise<ServedRun[]> {
  const repositories = repositoriesNow();
  const last = before === undefined ? undefined : await placeOf(before);
  const found: ServedRun[] = [];
  for (const { name, directory } of repositories) {
    await using journal = await openJournal(directory).catch(() => undefined); // it may be gone
    if (!journal) continue;
    let count = 0;
    for await (const run of shownRuns(journal, { ...asked, limit })) {
      const each = { id: `${name}:${run.id}`, repositoryId: name, run };
      if (last && newestFirst(last, placeIn(each)) >= 0) continue;
      found.push(each);
      if ((count += 1) === limit) break;
    }
  }
  return found.toSorted((a, b) => newestFirst(placeIn(a), placeIn(b))).slice(0, limit);
}

function repositoriesNow(): { name: string; directory: string }[] {
  using records = openRecords();
  return records.repositories.all();
}

function newestFirst(a: Place, b: Place): number {
  if (a.atMs !== b.atMs) return b.atMs - a.atMs;
  if (a.repositoryId !== b.repositoryId) return a.repositoryId < b.repositoryId ? -1 : 1;
  return b.number - a.number;
}

function placeIn({
  repositoryId,
  run,
}: Pick<ServedRun, 'repositoryId'> & { run: Pick<ServedRun['run'], 'id' | 'createdAtMs'> }): Place {
  return { repositoryId, atMs: run.createdAtMs, number: Number(run.id.split('-').at(-1)) };
}

async function placeOf(id: string): Promise<Place> {
  const at = id.indexOf(':');
  const name = id.slice(0, Math.max(at, 0));
  const repository = repositoriesNow().find((each) => each.name === name);
  if (repository) {
    await using journal = await openJournal(repository.directory);
    const run = await journal.store.run(id.slice(at + 1));
    if (run) return placeIn({ repositoryId: name, run });
  }
  throw new BosunError('not-found', `no served repository has a run ${JSON.stringify(id.slice(0, 200))}`);
}
