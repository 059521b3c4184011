/** Finds directories that the sandbox's user may not enter although something below them is to be shown to him. */
import { statSync } from 'node:fs';
import path from 'node:path';

export interface Shadows {
  /** Directories in whose place an empty one must stand. */
  directories: string[];
  /** What must be kept below them. */
  kept: string[];
}

const OTHERS_MAY_ENTER = 0o001;
/** Asked again and again for the same few directories; they do not change while an engine runs. */
const entered = new Map<string, boolean>();

export function shadowsFor(paths: readonly string[]): Shadows {
  const directories = new Set<string>();
  const kept = new Set<string>();
  for (const file of paths) {
    const closed = firstClosed(path.dirname(file));
    if (closed === undefined) continue;
    directories.add(closed);
    kept.add(file);
  }
  return { directories: [...directories], kept: [...kept] };
}

/** The topmost. */
function firstClosed(directory: string): string | undefined {
  const parts = directory.split('/').filter(Boolean);
  for (let count = 1; count <= parts.length; count += 1) {
    const at = `/${parts.slice(0, count).join('/')}`;
    let isOpen = entered.get(at);
    if (isOpen === undefined) {
      const stat = statSync(at, { throwIfNoEntry: false });
      isOpen = stat === undefined || (stat.mode & OTHERS_MAY_ENTER) !== 0;
      entered.set(at, isOpen);
    }
    if (!isOpen) return at;
  }
  return undefined;
}
