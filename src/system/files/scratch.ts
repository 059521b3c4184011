/**
 * Directories for a moment's work on a repository: below its state directory, where there is one. Each says whose it is,
 * so that what a killed process left can be told from what is in use.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '../process/is-alive.ts';
import { namesIn } from './names-in.ts';
import { tryRemoveTree } from './remove-tree.ts';
import { stateDirectory } from './state-directory.ts';

/** The process's number and a dash. */
const OWNER = /^(\d+)-/;
/** No moment lasts as long. A process in a container has a number that means nothing outside of it, so age counts too. */
const MOMENT_MS = 3600 * 1000;
/** By then the number is another process's. */
const REUSED_MS = 7 * 24 * 3600 * 1000;

export async function makeScratch(commonDir: string): Promise<string> {
  try {
    const state = stateDirectory(commonDir);
    const directory = placeIn(state);
    if (isDirectory(state)) {
      if (lstatSync(directory, { throwIfNoEntry: false }) === undefined)
        mkdirSync(directory, { recursive: true, mode: 0o700 });
      if (isDirectory(directory)) return await mkdtemp(path.join(directory, `${process.pid}-`));
    }
  } catch {
    // somebody else's, or a disk that cannot be written: who only looks needs neither
  }
  return await mkdtemp(path.join(tmpdir(), 'bosun-git-'));
}

/** Takes away what is nobody's any more. */
export async function sweepScratch(state: string): Promise<void> {
  const directory = placeIn(state);
  if (!isDirectory(directory)) return;
  for (const name of namesIn(directory)) {
    const file = path.join(directory, name);
    const ageMs = Date.now() - (lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
    const pid = OWNER.exec(name)?.[1];
    const isInUse = pid !== undefined && isAlive(Number(pid));
    if (ageMs > (isInUse ? REUSED_MS : MOMENT_MS)) await tryRemoveTree(file);
  }
}

function placeIn(state: string): string {
  return path.join(state, 'tmp');
}

/** No link: that could lead anywhere. */
function isDirectory(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
