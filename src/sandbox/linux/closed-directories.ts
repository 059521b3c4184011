/** Finds directories that the sandbox's user may not enter although something below them is to be shown to him. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { isWithin } from '../../base/is-within.ts';

/** A directory in whose place an empty one must stand, or what must be kept below such a one. */
export interface ClosedDirectory {
  path: string;
  isKept: boolean;
}

const OTHERS_MAY_ENTER = 0o001;
/** Asked again and again for the same few directories; they do not change while an engine runs. */
const entered = new Map<string, boolean>();

/** From the outside in: what is kept may have a closed directory in it, below which something is to be shown too. */
export function closedDirectoriesFor(paths: readonly string[], uid: number): ClosedDirectory[] {
  const closed = new Set<string>();
  const kept: string[] = [];
  for (const file of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    const above = kept.findLast((other) => isWithin(other, file));
    const inTheWay = firstClosed(above ?? '/', path.dirname(file), uid);
    // Into a directory that is closed itself nobody gets, but what lies in it may be wanted.
    if (inTheWay === undefined || !isOpen(file, uid)) continue;
    closed.add(inTheWay);
    kept.push(file);
  }
  return [
    ...[...closed].map((directory) => ({ path: directory, isKept: false })),
    ...kept.map((file) => ({ path: file, isKept: true })),
  ].sort((a, b) => a.path.length - b.path.length);
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
