/**
 * Takes directories that only root may enter off the PATH, for this process and all it starts. A root engine makes a
 * way for its sandboxes to what lies on the PATH below such a directory; no hand-written line does that, so there
 * would be nothing to compare with.
 */
import { statSync } from 'node:fs';
import path from 'node:path';

const OTHERS_MAY_ENTER = 0o001;

export function openPath(): void {
  if (process.getuid?.() !== 0) return;
  process.env.PATH = (process.env.PATH ?? '').split(':').filter(isOpen).join(':');
}

function isOpen(directory: string): boolean {
  if (!path.isAbsolute(directory)) return false;
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & OTHERS_MAY_ENTER) === 0) return false;
  const parent = path.dirname(directory);
  return parent === directory || isOpen(parent);
}
