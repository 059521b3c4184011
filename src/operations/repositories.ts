/** Which repositories `bosun serve` may work on: allowed, listed, forgotten. It changes nothing in them. */
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { ServedRepository } from '../contract/serving-schema.ts';
import { prepareJournal } from '../run/journal.ts';
import { openRecords } from '../store/records/records.ts';
import { REPOSITORIES_MAX } from '../store/records/repositories.ts';
import { findGit } from '../system/files/state-directory.ts';

export async function allowRepository({
  cwd,
  directory,
}: Reading<'allowRepository'>): Promise<ServedRepository> {
  const top = topOf(path.resolve(cwd, directory ?? '.'));
  await prepareJournal(top); // there is something to look at, and nothing in it
  using records = openRecords();
  if (records.repositories.all().length >= REPOSITORIES_MAX)
    throw new BosunError(
      'wrong-state',
      `${REPOSITORIES_MAX} repositories are served, which is the most; remove some with: bosun repositories remove <name>`,
    );
  return records.repositories.add(top, Date.now());
}

export function listRepositories(): ServedRepository[] {
  using records = openRecords();
  return records.repositories.all();
}

export function forgetRepository({ repository }: Reading<'forgetRepository'>): ServedRepository {
  using records = openRecords();
  const removed = records.repositories.remove(repository);
  if (removed) return removed;
  throw new BosunError(
    'not-found',
    `no repository ${repository} is served; see what is with: bosun repositories list`,
  );
}

/** By its real path: another link to it is the same repository. What is not there is not meant for the one above it. */
function topOf(directory: string): string {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (!stat?.isDirectory())
    throw new BosunError(
      'no-repository',
      `${directory} ${stat ? 'is not a directory' : 'does not exist'}; name a directory of a repository`,
    );
  const top = findGit(directory)?.top;
  if (top !== undefined) return realpathSync(top);
  throw new BosunError(
    'no-repository',
    `${directory} is not in a git repository with a work tree; name a directory of one`,
  );
}
