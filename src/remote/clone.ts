/**
 * A repository of a remote as a new directory: all of it or nothing. It appears under its name once it is whole; no
 * hook of a template runs, and no submodule is followed.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rename } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { git, gitOnFiles } from '../system/git/git.ts';
import { talk, type RemoteReach } from './transfer.ts';

export interface CloneRequest {
  directory: string;
  depth?: number | undefined;
  branch?: string | undefined;
}

export interface Clone {
  branch?: string;
  head?: string;
}

const FLAGS = ['--quiet', '--no-checkout', '--no-recurse-submodules', '--origin', 'origin'];

export async function cloneRemote(
  reach: RemoteReach,
  { directory, depth, branch }: CloneRequest,
): Promise<Clone> {
  requireFree(directory);
  const parent = path.dirname(directory);
  await mkdir(parent, { recursive: true });
  const place = await mkdtemp(path.join(parent, `.${path.basename(directory)}.bosun-`));
  const fresh = path.join(place, 'clone');
  try {
    await talk(reach, {
      doing: 'cannot clone',
      commonDir: place,
      args: (url) => [
        'clone',
        ...FLAGS,
        ...(depth === undefined ? [] : [`--depth=${depth}`]),
        ...(branch === undefined ? [] : [`--branch=${branch}`]),
        '--',
        url,
        fresh,
      ],
    });
    const { url } = reach.address;
    // a name that went with a token stays out of it
    await git(['config', '--file', path.join(fresh, '.git', 'config'), 'remote.origin.url', url]);
    const clone = await headOf(fresh);
    const { signal } = reach;
    if (clone.head !== undefined)
      await gitOnFiles(['reset', '--hard', '--quiet'], { cwd: fresh, ...(signal && { signal }) });
    signal?.throwIfAborted();
    await rename(fresh, directory).catch((cause: unknown) => {
      throw unplaced(directory, cause);
    });
    return clone;
  } finally {
    await removeTree(place);
  }
}

/** What a clone is called where nobody says it. */
export function directoryFor(repositoryPath: string): string {
  const name = decodeURIComponent(path.posix.basename(repositoryPath).replaceAll(/%(?![0-9a-f]{2})/gi, ''));
  if (name === '' || name === '.' || name === '..' || name.startsWith('-') || /[/\\\p{C}]/u.test(name))
    throw new BosunError('usage', 'the address gives the new directory no name: name one after it');
  return name;
}

/** An empty one serves too, as with git. */
function requireFree(directory: string): void {
  if (!existsSync(directory)) return;
  if (!statSync(directory).isDirectory() || readdirSync(directory).length > 0) throw taken(directory);
}

function taken(directory: string, cause?: unknown): BosunError {
  return new BosunError(
    'wrong-state',
    `cannot clone: ${directory} is there already and not empty: name another directory`,
    { cause },
  );
}

/** Whole as it is, it could not get its name. */
function unplaced(directory: string, cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return taken(directory, cause);
  return new BosunError(
    'system',
    `cannot clone: the new directory cannot get its name ${directory} (${code ?? message}); see that its parent is there and that you may write in it, then try again`,
    { cause },
  );
}

/** A repository may be empty, and what was named may be a tag. */
async function headOf(directory: string): Promise<Clone> {
  const ask = async (...args: string[]): Promise<string | undefined> => {
    const { code, stdout } = await git(args, { cwd: directory, codes: [0, 1, 128] });
    return code === 0 ? stdout.toString().trim() : undefined;
  };
  const head = await ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const branch = await ask('symbolic-ref', '--quiet', '--short', 'HEAD');
  return {
    ...(head !== undefined && { head }),
    ...(head !== undefined && branch !== undefined && { branch }),
  };
}
