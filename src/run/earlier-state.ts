/**
 * State that stands in `.bosun/` of the work tree, where earlier versions had it. It is never used: a repository or an
 * archive can bring such files along, and nothing tells them from the user's own.
 */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { shellWord } from '../base/shell-word.ts';
import type { Home } from '../store/home.ts';

const STATE = ['git', 'runs', 'journal.db-wal', 'journal.db-shm', 'journal.db'];

/** What to tell whoever has some, and no journal; undefined where there is nothing to tell. */
export function tellEarlier({ top, directory, journal }: Home): string | undefined {
  const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  const earlier = path.join(top, '.bosun');
  if (isThere(journal) || !isThere(path.join(earlier, 'journal.db'))) return undefined;
  const names = STATE.filter((name) => isThere(path.join(earlier, name)));
  const from = names.map((name) => shellWord(path.join(earlier, name))).join(' ');
  const to = shellWord(directory);
  return `${earlier} looks like the state of an earlier bosun; it is not used, because it could have come with the repository. If it is yours, move it before the next run: mkdir -p -m 700 ${to} && mv -n ${from} ${to}`;
}
