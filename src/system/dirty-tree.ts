/** Makes a commit of the user's work tree as it is, in the engine's git directory; the user's index stays as it is. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { EngineGit } from './engine-git.ts';
import { userGit } from './git.ts';

/** The commit's parent is HEAD; HEAD itself where the work tree does not differ from it. */
export async function commitDirtyTree(engine: EngineGit, message: string, atMs: number): Promise<string> {
  const { repository } = engine;
  const scratch = await mkdtemp(path.join(engine.home, 'index-'));
  const index = path.join(scratch, 'index');
  try {
    // a copy of the user's index knows which files are unchanged, so that only the others are read
    await copyFile(path.join(repository.gitDir, 'index'), index).catch(() => {});
    // the user's own configuration says what is ignored and how files become blobs; the blobs go to the engine
    const asUser = (args: string[]): ReturnType<typeof userGit> =>
      userGit(
        [
          '-c',
          'core.splitIndex=false',
          '-c',
          'core.untrackedCache=false',
          '-c',
          'advice.addEmbeddedRepo=false',
          ...args,
        ],
        {
          cwd: repository.top,
          env: { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: path.join(engine.directory, 'objects') },
        },
      );
    await asUser(['add', '--all', '--', '.']);
    const tree = (await asUser(['write-tree'])).stdout.toString().trim();
    if (tree === (await engine.revParse(`${repository.head}^{tree}`))) return repository.head;
    return await engine.commitTree({ tree, parents: [repository.head], message, atMs });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
