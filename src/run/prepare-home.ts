/** Makes the state directory ready for an engine: its directories, and none of what an earlier one left in them. */
import { lstatSync, readdirSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import { Home } from '../store/home.ts';
import { makeReserve, releaseReserve } from '../system/files/disk-reserve.ts';
import { isAlive } from '../system/process/is-alive.ts';
import { removeTree, tryRemoveTree } from '../system/files/remove-tree.ts';
import { sandboxUid } from '../system/process/sandbox-user.ts';
import { sweepScratch } from '../system/files/scratch.ts';
import { makeStateDirectory, type GitPlace } from '../system/files/state-directory.ts';

/** The directories that attempts have something in. */
const PLACES = ['attempts', 'memory', 'empty', 's', 'bases', 'copies', 'layers', 'workspaces', 'scratch'];
const PASSAGE = 0o755;

/** `freesSpace`: for a command that does, the space that was set aside is given up where it is needed. */
export async function createHome(repository: GitPlace, freesSpace = false): Promise<Home> {
  const home = new Home(repository);
  try {
    makeStateDirectory(home.directory);
    if (freesSpace) releaseReserve(home.directory); // not before it is known to be ours
    await makePlaces(home);
  } catch (cause) {
    if (cause instanceof BosunError) throw cause;
    const what = `cannot write to ${home.directory}, where bosun keeps its journal and workspaces`;
    throw (
      machineError(cause, what) ??
      new BosunError('system', `${what}: ${(cause as Error).message}; make it a directory that is writable`, {
        cause,
      })
    );
  }
  makeReserve(home.directory);
  return home;
}

export async function makePlaces(home: Home): Promise<void> {
  await mkdir(home.sandbox, { recursive: true });
  if (sandboxUid !== undefined) await chmod(home.sandbox, PASSAGE);
  await Promise.all(
    PLACES.map(async (name) => {
      const directory = path.join(home.sandbox, name);
      await mkdir(directory, { recursive: true });
      // Agents may run as somebody else, who must get to what is his; there is nothing to list on the way.
      if (sandboxUid !== undefined) await chmod(directory, PASSAGE);
    }),
  );
}

/** A copy of /etc is made again where it is missing; one of a machine that has changed since is of no use. */
const ETC_MS = 7 * 24 * 3600 * 1000;

/**
 * Takes away what attempts of a killed engine left; whoever calls it holds the lock. A process that lives may only wait
 * for its next run, and needs what it has there.
 */
export async function clearAttempts(home: Home): Promise<void> {
  await sweepScratch(home.directory);
  for (const name of readdirSync(home.attempts)) await removeTree(path.join(home.attempts, name));
  for (const name of readdirSync(home.sockets)) {
    // Only those of a launcher begin with a process's number and a dash; all others are an attempt's.
    const pid = /^(\d+)-/.exec(name)?.[1];
    if (pid === undefined || !isAlive(Number(pid))) await removeTree(path.join(home.sockets, name));
  }
  for (const name of readdirSync(home.sandbox)) {
    const file = path.join(home.sandbox, name);
    if (name.startsWith('try-')) await tryRemoveTree(file);
    if (name.startsWith('etc-') && Date.now() - lstatSync(file).mtimeMs > ETC_MS) await removeTree(file);
  }
}
