/**
 * A commit of the user's files as they are, on the user's branch and at the user's word: the index is replaced as a
 * whole, then the branch is moved. No hook runs. What a run starts from is made in `dirty-tree.ts`.
 */
import { rename, rm, open } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { removeTree } from '../files/remove-tree.ts';
import { makeScratch } from '../files/scratch.ts';
import { copyIndex } from './copy-index.ts';
import { stageFiles } from './dirty-tree.ts';
import type { EngineGit } from './engine-git.ts';
import { gitInRepository, signedBy, splitNul } from './git.ts';
import { inspectRepository, type Repository } from './repository.ts';
import { refuseUnfinished } from './unfinished.ts';
import { openWorkTree } from './work-tree.ts';

/** Undefined where nothing differs from HEAD. */
export async function commitFiles(
  cwd: string,
  message: string,
  signal?: AbortSignal,
): Promise<{ commit: string; files: number; branch: string | undefined } | undefined> {
  const stop = signal && { signal };
  const { gitDir, commonDir } = await inspectRepository(cwd);
  const scratch = await makeScratch(commonDir);
  const index = path.join(scratch, 'index');
  const lock = path.join(gitDir, 'index.lock');
  let isLocked = false;
  try {
    await takeIndex(lock);
    isLocked = true;
    const repository = await inspectRepository(cwd); // what was there before the lock may be another's commit by now
    const { top, head, branch } = repository;
    refuseUnfinished(repository);
    await using files = await openWorkTree(repository);
    await copyIndex(path.join(gitDir, 'index'), index).catch(() => {}); // there may be none yet
    const tree = await stageFiles(files, { ...stop, index }, 'committing');
    const changed = await files.run(
      ['diff-tree', '-r', '-z', '--name-only', '--no-renames', head, tree],
      stop,
    );
    const count = splitNul(changed.stdout).length;
    if (count === 0) return undefined;
    const made = await files.run(['commit-tree', tree, '-p', head, '-F', '-'], {
      ...stop,
      input: message.endsWith('\n') ? message : `${message}\n`,
      env: signedBy(await repository.identity()),
    });
    const commit = made.stdout.toString().trim();
    signal?.throwIfAborted();
    // cut off between the two, all of it is staged, and nothing is lost
    await copyIndex(index, lock);
    await rename(lock, path.join(gitDir, 'index'));
    isLocked = false; // from here on a lock is another git's
    const [title = ''] = message.split('\n');
    await gitInRepository(['update-ref', '-m', `commit: ${title.slice(0, 200)}`, 'HEAD', commit, head], {
      cwd: top,
    });
    return { commit, files: count, branch };
  } finally {
    if (isLocked) await rm(lock, { force: true });
    await removeTree(scratch);
  }
}

/** The files as they are, as a tree of the engine's: nothing of the user's changes. */
export async function treeOfFiles(
  engine: EngineGit,
  repository: Repository,
  signal?: AbortSignal,
): Promise<string> {
  const scratch = await makeScratch(repository.commonDir);
  const index = path.join(scratch, 'index');
  try {
    await copyIndex(path.join(repository.gitDir, 'index'), index).catch(() => {});
    await using files = await openWorkTree(repository);
    const objects = path.join(engine.directory, 'objects');
    return await stageFiles(files, { ...(signal && { signal }), index, objects }, 'comparing the files');
  } finally {
    await removeTree(scratch);
  }
}

/** As git does it: nobody else changes the index now. */
async function takeIndex(lock: string): Promise<void> {
  try {
    await (await open(lock, 'wx')).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new BosunError(
      'busy',
      `another git command is at work here (${lock} exists), so nothing was committed: wait for it and try again, or remove that file if no git runs`,
    );
  }
}
