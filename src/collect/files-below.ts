/** Lists the files that a commit has in some directories. One call of git, whatever their number. */
import { bytesKey } from '../base/bytes-key.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { splitNul } from '../system/git/git.ts';
import { type FilesBelow } from './vet.ts';

const PATHS_MAX = 500;
const PATH_BYTES_MAX = 64 * 1024;

export async function listFilesBelow(
  git: EngineGit,
  commit: string,
  directories: readonly Buffer[],
): Promise<FilesBelow> {
  const found = new Map<string, Buffer[]>(directories.map((path) => [bytesKey(path), []]));
  if (found.size > 0) {
    const args = ['--literal-pathspecs', 'ls-tree', '-r', '-z', '--name-only', '--full-tree', commit];
    const { stdout } = await git.run(
      fitsArguments(directories) ? [...args, '--', ...names(directories)] : args,
    );
    for (const file of splitNul(stdout)) put(found, file);
  }
  return (path) => found.get(bytesKey(path)) ?? [];
}

/** Arguments are text and not endless; where they will not do, the whole commit is listed. */
function fitsArguments(paths: readonly Buffer[]): boolean {
  if (paths.length > PATHS_MAX || paths.reduce((sum, path) => sum + path.length, 0) > PATH_BYTES_MAX)
    return false;
  return paths.every((path) => Buffer.from(path.toString()).equals(path));
}

function names(paths: readonly Buffer[]): string[] {
  return paths.map((path) => path.toString());
}

function put(found: Map<string, Buffer[]>, file: Buffer): void {
  const key = bytesKey(file);
  found.get(key)?.push(file);
  for (let at = key.indexOf('/'); at !== -1; at = key.indexOf('/', at + 1)) {
    found.get(key.slice(0, at))?.push(file);
  }
}
