/** Finds who has most files of those that share a disk. It only counts; whether anybody is to blame others decide. */
import { measureDisk } from './disk-used.ts';

export interface FileOwner {
  directories: string[];
}

export interface MostFiles<Owner> {
  owner: Owner;
  entries: number;
  /** It has a directory that cannot be looked into: there may be more in it than all others have. */
  isClosed: boolean;
}

/** Who has fewer is known after this much of a walk; the next ones go on for so many times as long. */
const FIRST_ENTRIES_MAX = 512;
const GROWTH = 4;

/**
 * All are counted before one is named, by walks of equal length: files may run out faster than those of a large layer
 * can be counted, and the last one that is not through has most of them.
 */
export async function mostFiles<Owner extends FileOwner>(
  owners: readonly Owner[],
  /** How many files it holds that have no name any more. */
  heldBy: (owner: Owner) => Promise<number>,
  isGone: (owner: Owner) => boolean,
): Promise<MostFiles<Owner> | undefined> {
  let most: MostFiles<Owner> | undefined;
  let left = [...owners];
  for (let entriesMax = FIRST_ENTRIES_MAX; left.length > 0; entriesMax *= GROWTH) {
    const unfinished: Owner[] = [];
    for (const owner of left) {
      const { use } = await measureDisk(
        owner.directories,
        ({ entries }) => entries > entriesMax || isGone(owner),
      );
      const entries = use.entries + (await heldBy(owner));
      if (isGone(owner)) continue;
      const { isClosed } = use;
      if (isClosed) return { owner, entries, isClosed };
      if (most === undefined || entries > most.entries) most = { owner, entries, isClosed };
      if (use.entries > entriesMax) unfinished.push(owner);
    }
    left = unfinished.length > 1 ? unfinished : [];
  }
  return most;
}
