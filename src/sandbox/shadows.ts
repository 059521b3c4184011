/** Finds directories that the sandbox's user may not enter although something below them is to be shown to him. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { isAbove } from './machine.ts';

export interface Shadows {
  /** Directories in whose place an empty one must stand. */
  directories: string[];
  /** What must be kept below them. */
  kept: string[];
}

const OTHERS_MAY_ENTER = 0o001;
/** Asked again and again for the same few directories; they do not change while an engine runs. */
const entered = new Map<string, boolean>();

export function shadowsFor(paths: readonly string[], uid: number): Shadows {
  const directories = new Set<string>();
  const kept: string[] = [];
  for (const file of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    const closed = firstClosed('/', path.dirname(file), uid);
    // Into a directory that is closed itself nobody gets, but what lies in it may be wanted.
    if (closed === undefined || !isOpen(file, uid)) continue;
    directories.add(closed);
    const isThere = kept.some(
      (other) => isAbove(other, file) && !firstClosed(other, path.dirname(file), uid),
    );
    if (!isThere) kept.push(file);
  }
  return { directories: [...directories], kept };
}

/** The topmost below `from`, down to `directory`. */
function firstClosed(from: string, directory: string, uid: number): string | undefined {
  const parts = directory.split('/').filter(Boolean);
  for (let count = from.split('/').filter(Boolean).length + 1; count <= parts.length; count += 1) {
    const at = `/${parts.slice(0, count).join('/')}`;
    if (!isOpen(at, uid)) return at;
  }
  return undefined;
}

function isOpen(file: string, uid: number): boolean {
  let isOpen = entered.get(file);
  if (isOpen === undefined) {
    const stat = statSync(file, { throwIfNoEntry: false });
    isOpen = !stat?.isDirectory() || stat.uid === uid || (stat.mode & OTHERS_MAY_ENTER) !== 0;
    entered.set(file, isOpen);
  }
  return isOpen;
}
