/**
 * The files of a landing: taken out, put in place, and back again. It writes no content, and looks before it touches.
 * To go back needs no space: directories stay until the end, or are moved aside.
 */
import { linkSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';

/** Which file it is, and whether it was written since. */
export interface FileStat {
  ino: string;
  size: string;
  mtimeNs: string;
}

export interface LandingEntry {
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
export function takeFiles(top: string, stage: string, entries: readonly LandingEntry[], fault: Fault): void {
  for (const [n, entry] of entries.entries()) {
    if (entry.old === undefined) continue;
    const name = nameOf(entry);
    renameSync(at(top, name), oldOf(stage, n));
    fault('taken');
    if (!isSame(statOf(stage, Buffer.from(`old/${n}`)), entry.old)) throw changedMeanwhile(entry);
  }
}

/** Never over something that is there, but for a directory of which all files were taken. */
export function placeFiles(top: string, stage: string, entries: readonly LandingEntry[], fault: Fault): void {
  for (const [n, entry] of entries.entries()) {
    if (!entry.isMade) continue;
    const name = nameOf(entry);
    if (isDirectory(at(top, name))) {
      renameSync(at(top, name), emptiedOf(stage, n));
      fault('emptied');
      if (!isEmptied(emptiedOf(stage, n))) throw changedMeanwhile(entry);
    }
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

/** Once all is done: git keeps no empty directories. */
export function removeEmptied(top: string, entries: readonly LandingEntry[]): void {
  for (const entry of entries)
    if (entry.old && !isBeyondLink(top, nameOf(entry))) removeEmpty(top, nameOf(entry));
}

/** Harmless at any point, and when done twice. Gives what is neither as before nor as after. */
export function takeBack(top: string, stage: string, entries: readonly LandingEntry[]): string[] {
  const holds = (entry: LandingEntry, n: number): boolean =>
    entry.old !== undefined || isDirectory(emptiedOf(stage, n));
  const needed = new Set(entries.flatMap((entry, n) => (holds(entry, n) ? parentsOf(entry.path) : [])));
  for (const [n, entry] of entries.entries()) {
    const name = nameOf(entry);
    if (isBeyondLink(top, name)) continue;
    if (isSame(statOf(top, name), entry.made)) {
      unlinkSync(at(top, name));
      removeEmpty(top, name, needed);
    }
    if (!isDirectory(emptiedOf(stage, n)) || statOf(top, name) !== undefined) continue;
    if (makeDirectory(directoryOf(top, name))) renameSync(emptiedOf(stage, n), at(top, name));
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
    } else if (
      isTaken ||
      (entry.old && !isSame(now, entry.old)) ||
      (!entry.old && now && !isDirectory(at(top, name))) // git knows no directories
    )
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

/** From the lowest up, as far as they are empty and not among those to keep. */
function removeEmpty(top: string, name: Buffer, kept: ReadonlySet<string> = new Set()): void {
  for (const parent of parentsOf(name.toString('latin1'))) {
    if (kept.has(parent)) return;
    try {
      rmdirSync(at(top, Buffer.from(parent, 'latin1')));
    } catch {
      return;
    }
  }
}

/** The directories of a path, the lowest first. */
function parentsOf(name: string): string[] {
  const parents: string[] = [];
  for (let to = name.lastIndexOf('/'); to > 0; to = name.lastIndexOf('/', to - 1))
    parents.push(name.slice(0, to));
  return parents;
}

function isDirectory(file: Buffer | string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Whether there are only directories below. */
function isEmptied(directory: string): boolean {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).every((entry) =>
    entry.isDirectory(),
  );
}

function changedMeanwhile(entry: LandingEntry): BosunError {
  return new BosunError(
    'wrong-state',
    `${nameOf(entry).toString()} was changed while the merge was at work, so nothing was merged: merge again`,
  );
}

function nameOf({ path: name }: LandingEntry): Buffer {
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

/** A directory that a file of the merge takes the place of. */
function emptiedOf(stage: string, n: number): string {
  return path.join(stage, 'old', `${n}.directory`);
}
