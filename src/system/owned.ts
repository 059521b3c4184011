/**
 * Refuses files that somebody else owns or could change: what bosun keeps is believed, so it must be its own. Even the
 * quickest commands load this, so it imports next to nothing and reads no more than one stat for each file.
 */
import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { BosunError } from '../contract/errors.ts';

const OTHERS_MAY_WRITE = 0o022;

/** Throws for the first that is not ours; one that does not exist is nobody's. */
export function assertOurs(...files: string[]): void {
  for (const file of files) {
    const problem = whyNotOurs(file);
    if (problem !== undefined) throw new BosunError('system', problem);
  }
}

/** Undefined where the file belongs to us alone, or is not there. Links are not followed. */
export function whyNotOurs(file: string, uid = process.geteuid?.()): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (uid === undefined || stats === undefined) return undefined;
  const what = kindOf(stats);
  if (what === undefined)
    return `${file} is not a plain file or directory, so bosun does not use it; move it away`;
  if (stats.uid !== uid)
    return `the ${what} ${file} belongs to ${userName(stats.uid)}, and bosun runs as ${userName(uid)}; run bosun as ${userName(stats.uid)}, or move it away`;
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
    return `other users can change the ${what} ${file} (mode ${(stats.mode & 0o777).toString(8)}); if you trust what it holds, run: chmod go-w '${file}'`;
  return undefined;
}

function kindOf(stats: Stats): string | undefined {
  return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : undefined;
}

/** As people know the user; the number where nobody has it. */
export function userName(uid: number): string {
  try {
    for (const line of readFileSync('/etc/passwd', 'latin1').split('\n')) {
      const [name, , number] = line.split(':');
      if (name && number === String(uid)) return name;
    }
  } catch {
    // no such file: the number says it too
  }
  return `user ${uid}`;
}
