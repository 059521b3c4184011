/** What git itself has begun in a work tree and not finished: a merge or a rebase that waits for its user. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import type { Repository } from './repository.ts';

const UNFINISHED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

export function refuseUnfinished({ top, gitDir }: Pick<Repository, 'top' | 'gitDir'>): void {
  const unfinished = UNFINISHED.find((name) => existsSync(path.join(gitDir, name)));
  if (unfinished === undefined) return;
  throw new BosunError(
    'wrong-state',
    `${top} is in the middle of something (${unfinished}): finish or abort it first, see git status`,
  );
}
