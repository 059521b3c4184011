/** The parts of a repository that agents can work on side by side. It reads names of directories alone. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** More are left out; whoever writes them into a workflow says so. */
const PARTS_MAX = 200;
const ENTRIES_MAX = 10_000;
/** Where code lies, in directories of its own. */
const HOLDERS = ['packages', 'apps', 'crates', 'services', 'src', 'lib'];
const NO_CODE = /^(docs?|dist|build|out|target|vendor|node_modules|coverage|third_party|assets)$/i;
/** What needs no quoting anywhere, and is no glob. */
const PLAIN = /^[A-Za-z0-9_][\w.-]{0,99}$/;

export function findParts(top: string): string[] {
  for (const holder of HOLDERS) {
    const names = directoriesIn(path.join(top, holder));
    if (names.length > 1) return names.slice(0, PARTS_MAX).map((name) => `${holder}/${name}`);
  }
  return directoriesIn(top).slice(0, PARTS_MAX);
}

/** No link is followed. */
function directoriesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  try {
    const entries = readdirSync(directory, { withFileTypes: true }).slice(0, ENTRIES_MAX);
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return names.filter((name) => PLAIN.test(name) && !NO_CODE.test(name)).toSorted();
  } catch {
    return [];
  }
}
