/** The files of a landing: taken out, put in place, and back again. It writes no content, and looks before it touches. */
import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';

/** Which file it is, and whether it was written since. */
export interface FileStat {
  ino: string;
  size: string;
  mtimeNs: string;
}

export interface Entry {
  /** Each byte as a character. */
  path: string;
  /** What is there before; absent where the merge adds it. */
  old?: FileStat;
  /** Whether the merge puts something there. */
  isMade: boolean;
  /** What it puts there. */
  made?: FileStat;
}

type Fault = (point: string) => void;

export function statOf(directory: string, name: Buffer): FileStat | undefined {
  try {
    const { ino, size, mtimeNs } = lstatSync(at(directory, name), { bigint: true });
    return { ino: String(ino), size: String(size), mtimeNs: String(mtimeNs) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Takes away what the merge changes or deletes, and makes sure of what it took. */
export function takeFiles(top: string, stage: string, entries: readonly Entry[], fault: Fault): void {
  for (const [n, entry] of entries.entries()) {
    if (entry.old === undefined) continue;
    const name = nameOf(entry);
    renameSync(at(top, name), oldOf(stage, n));
    fault('taken');
    if (!isSame(statOf(stage, Buffer.from(`old/${n}`)), entry.old)) throw changedMeanwhile(entry);
    removeEmpty(top, name);
  }
}

/** Never over something that is there. */
export function placeFiles(top: string, stage: string, entries: readonly Entry[], fault: Fault): void {
  for (const entry of entries) {
    if (!entry.isMade) continue;
    const name = nameOf(entry);
    mkdirSync(directoryOf(top, name), { recursive: true });
    const from = at(path.join(stage, 'new'), name);
    try {
      linkSync(from, at(top, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw changedMeanwhile(entry);
      if (statOf(top, name) !== undefined) throw error;
      renameSync(from, at(top, name)); // a file system without hard links
    }
    fault('placed');
  }
}

/** Harmless at any point, and when done twice. Gives what is neither as before nor as after. */
export function takeBack(top: string, stage: string, entries: readonly Entry[]): string[] {
  for (const entry of entries) {
    const name = nameOf(entry);
    if (isBeyondLink(top, name) || !isSame(statOf(top, name), entry.made)) continue;
    unlinkSync(at(top, name));
    removeEmpty(top, name);
  }
  const left: string[] = [];
  for (const [n, entry] of entries.entries()) {
    const name = nameOf(entry);
    const isTaken = statOf(stage, Buffer.from(`old/${n}`)) !== undefined;
    const now = statOf(top, name);
    if (isBeyondLink(top, name)) {
      if (isTaken || entry.old) left.push(name.toString());
    } else if (isTaken && now === undefined) {
      if (makeDirectory(directoryOf(top, name))) renameSync(oldOf(stage, n), at(top, name));
      else left.push(name.toString());
    } else if (isTaken || (entry.old && !isSame(now, entry.old)) || (!entry.old && now))
      left.push(name.toString());
  }
  return left;
}

function isSame(a: FileStat | undefined, b: FileStat | undefined): boolean {
  return (
    a !== undefined && b !== undefined && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
  );
}

/** False where a file is in its place. */
function makeDirectory(directory: Buffer): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** git has nothing there, so what is there is somebody else's. */
function isBeyondLink(top: string, name: Buffer): boolean {
  for (let to = name.indexOf('/'); to > 0; to = name.indexOf('/', to + 1)) {
    const stat = lstatSync(at(top, name.subarray(0, to)), { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return stat?.isSymbolicLink() ?? false;
  }
  return false;
}

/** git keeps no empty directories. */
function removeEmpty(top: string, name: Buffer): void {
  for (let to = name.lastIndexOf('/'); to > 0; to = name.lastIndexOf('/', to - 1)) {
    try {
      rmdirSync(at(top, name.subarray(0, to)));
    } catch {
      return;
    }
  }
}

function changedMeanwhile(entry: Entry): BosunError {
  return new BosunError(
    'wrong-state',
    `${nameOf(entry).toString()} was changed while the merge was at work, so nothing was merged: merge again`,
  );
}

function nameOf({ path: name }: Entry): Buffer {
  return Buffer.from(name, 'latin1');
}

function at(directory: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${directory}/`), name]);
}

function directoryOf(top: string, name: Buffer): Buffer {
  const to = name.lastIndexOf('/');
  return to === -1 ? Buffer.from(top) : at(top, name.subarray(0, to));
}

function oldOf(stage: string, n: number): string {
  return path.join(stage, 'old', String(n));
}
