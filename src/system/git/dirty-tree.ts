/** Makes a commit of the user's work tree as it is, in the engine's git directory; the user's index stays as it is. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { EngineGit } from './engine-git.ts';
import { splitNul } from './git.ts';
import type { Repository } from './repository.ts';
import { makeScratch } from '../files/scratch.ts';
import { copyIndex } from './copy-index.ts';
import { openWorkTree, type WorkTree, type WorkTreeOptions } from './work-tree.ts';

/** The commit's parent is HEAD; HEAD itself where the work tree does not differ from it. */
export async function commitDirtyTree(
  engine: EngineGit,
  message: string,
  atMs: number,
  repository: Repository = engine.repository,
): Promise<string> {
  const scratch = await makeScratch(repository.commonDir);
  const index = path.join(scratch, 'index');
  try {
    // a copy of the user's index knows which files are unchanged, so that only the others are read
    await copyIndex(path.join(repository.gitDir, 'index'), index).catch(() => {});
    await using files = await openWorkTree(repository);
    const objects = path.join(engine.directory, 'objects');
    const tree = await stageFiles(files, { index, objects }, 'including uncommitted changes');
    if (tree === (await engine.revParse(`${repository.head}^{tree}`))) return repository.head;
    return await engine.commitTree({ tree, parents: [repository.head], message, atMs });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** All files as they are go into the index that is named; gives their tree. */
export async function stageFiles(
  files: WorkTree,
  options: WorkTreeOptions & { index: string },
  what: string,
): Promise<string> {
  const changed = (await files.status(options.signal)).map((file) => file.path);
  await files.refuseForeignFilters(changed, options.index, what);
  // git would ask each submodule what it has changed, under that one's own configuration
  const listed = splitNul((await files.run(['ls-files', '--stage', '-z'], options)).stdout);
  const submodules = listed.filter((line) => line.subarray(0, 6).toString() === '160000');
  const others = submodules.map(
    (line) => `:(top,exclude,literal)${line.subarray(line.indexOf(9) + 1).toString()}`,
  );
  // there may be more than a command line takes
  const add = ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const input = ['.', ...others].map((name) => `${name}\0`).join('');
  await files.run(['-c', 'advice.addEmbeddedRepo=false', ...add], { ...options, input });
  return (await files.run(['write-tree'], options)).stdout.toString().trim();
}
