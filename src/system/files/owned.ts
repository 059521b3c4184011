/**
 * Refuses files that somebody else owns or could change: what bosun keeps is believed, so it must be its own. Even the
 * quickest commands load this, so it imports next to nothing and reads no more than one stat for each file.
 */
import { lstatSync, readFileSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';

const OTHERS_MAY_WRITE = 0o022;
const OTHERS = 0o077;
const STICKY = 0o1000;

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
  if (stats.isFile() && stats.nlink > 1)
    return `the file ${file} has ${stats.nlink} names (hard links), so whoever has another one can change it, as in an archive that was unpacked; if you trust what it holds, give it to bosun alone: cp -p '${file}' '${file}.own' && mv '${file}.own' '${file}'`;
  if (stats.uid !== uid)
    return `the ${what} ${file} belongs to ${userName(stats.uid)}, and bosun runs as ${userName(uid)}; run bosun as ${userName(stats.uid)}, or move it away`;
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0 && !(stats.isFile() && isPrivate(path.dirname(file))))
    return `other users can change the ${what} ${file} (mode ${(stats.mode & 0o777).toString(8)}); if you trust what it holds, run: chmod go-w '${file}'`;
  return undefined;
}

/** Whatever the modes of the files in it, nobody else gets to them. */
function isPrivate(directory: string): boolean {
  return ((lstatSync(directory, { throwIfNoEntry: false })?.mode ?? 0o777) & OTHERS) === 0;
}

/**
 * Throws where somebody else could put another directory into the place of one of these, or of one above it: a root
 * engine gives away, covers and removes what is below, and would do so wherever it is led.
 */
export function assertRootsAlone(...directories: string[]): void {
  const checked = new Set<string>();
  for (const directory of directories) {
    for (let at = path.resolve(directory); !checked.has(at); at = path.dirname(at)) {
      checked.add(at);
      const problem = whyOthersRule(at);
      if (problem === undefined) continue;
      throw new BosunError(
        'no-repository',
        `bosun runs as root and does not work in ${directory}: ${problem.why}; run bosun as ${problem.user}, or, where nobody else uses this machine, take it over: ${problem.remedy}`,
      );
    }
  }
}

function whyOthersRule(directory: string): { why: string; user: string; remedy: string } | undefined {
  const { uid, gid, mode } = statSync(directory);
  if (uid !== 0) {
    const user = userName(uid);
    return { why: `${directory} belongs to ${user}`, user, remedy: `chown -R root: '${directory}'` };
  }
  const isOpen = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0);
  if (!isOpen || (mode & STICKY) !== 0) return undefined;
  const why = `other users can write to ${directory} (mode ${(mode & 0o7777).toString(8)})`;
  return { why, user: 'an ordinary user', remedy: `chmod go-w '${directory}'` };
}

/** Throws where somebody other than root or us could put another directory into the place of this one. */
export function assertOnlyOursAbove(directory: string): void {
  const uid = process.geteuid?.();
  if (uid === undefined) return;
  for (let at = path.dirname(directory); ; at = path.dirname(at)) {
    const stat = statSync(at);
    const isOpen = (stat.mode & OTHERS_MAY_WRITE) !== 0 && (stat.mode & STICKY) === 0;
    if ((stat.uid !== 0 && stat.uid !== uid) || isOpen)
      throw new BosunError(
        'usage',
        `${directory} cannot hold workspaces: ${isOpen ? `other users can write to ${at}` : `${at} belongs to ${userName(stat.uid)}`}; name a directory below your own`,
      );
    if (at === path.dirname(at)) return;
  }
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
