/**
 * What a remote's branches are by now, as `refs/remotes/<name>/…` of the user's repository. git runs on a directory of
 * ours, which knows the user's refs and writes objects where the user's are; then the refs are moved, and nothing else.
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { namesIn } from '../system/files/names-in.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { makeScratch } from '../system/files/scratch.ts';
import { git, gitInRepository } from '../system/git/git.ts';
import type { Repository } from '../system/git/repository.ts';
import { talk, type RemoteReach } from './transfer.ts';

export interface FetchRequest {
  repository: Repository;
  /** Under which its branches are kept here. */
  name: string;
  branch?: string | undefined;
}

export interface FetchedBranch {
  name: string;
  commit: string;
  was?: string;
}

const FLAGS = [
  '--quiet',
  '--no-tags',
  '--no-recurse-submodules',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-prune',
];
const LISTED = '--format=%(objectname) %(refname)';

export async function fetchRemote(
  reach: RemoteReach,
  { repository, name, branch = '*' }: FetchRequest,
): Promise<FetchedBranch[]> {
  const { top, commonDir } = repository;
  const below = `refs/remotes/${name}/`;
  if (namesIn(path.join(commonDir, 'objects', 'pack')).some((file) => file.endsWith('.promisor')))
    throw new BosunError(
      'wrong-state',
      `${top} is a partial clone, and what it lacks only git itself can ask for: git fetch ${name}`,
    );
  const directory = await makeScratch(commonDir);
  try {
    const before = await listed(() => gitInRepository(['for-each-ref', LISTED], { cwd: top }));
    await makeGitDirectory(directory, repository, before);
    await talk(reach, {
      doing: `cannot fetch from ${name}`,
      commonDir,
      args: (url) => [
        `--git-dir=${directory}`,
        'fetch',
        ...FLAGS,
        '--',
        url,
        `+refs/heads/${branch}:${below}${branch}`,
      ],
      env: { GIT_OBJECT_DIRECTORY: path.join(commonDir, 'objects') },
    });
    const after = await listed(() => git([`--git-dir=${directory}`, 'for-each-ref', LISTED, below]));
    // a branch of that name would move what the user's own HEAD of the remote leads to
    const moved = [...after].filter(([ref, commit]) => before.get(ref) !== commit && ref !== `${below}HEAD`);
    const lines = moved.map(([ref, commit]) => `update ${ref} ${commit} ${before.get(ref) ?? ''}\n`);
    if (moved.length > 0)
      await gitInRepository(['update-ref', '-m', 'bosun fetch', '--stdin'], {
        cwd: top,
        input: lines.join(''),
      });
    return moved.map(([ref, commit]) => {
      const was = before.get(ref);
      return { name: ref.slice(below.length), commit, ...(was !== undefined && { was }) };
    });
  } finally {
    await removeTree(directory);
  }
}

/** By their names; what a symbolic one leads to is there under its own. */
async function listed(ask: () => Promise<{ stdout: Buffer }>): Promise<Map<string, string>> {
  const { stdout } = await ask();
  const lines = stdout.toString().split('\n').filter(Boolean);
  return new Map(
    lines.map((line): [string, string] => [
      line.slice(line.indexOf(' ') + 1),
      line.slice(0, line.indexOf(' ')),
    ]),
  );
}

/** It knows what the user has, so that only the rest is fetched. */
async function makeGitDirectory(
  directory: string,
  { commonDir, objectFormat, head }: Repository,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  const isNew = objectFormat !== 'sha1';
  const extensions = isNew ? `[extensions]\n\tobjectFormat = ${objectFormat}\n` : '';
  await Promise.all(['objects', 'refs'].map((name) => mkdir(path.join(directory, name))));
  await writeFile(
    path.join(directory, 'config'),
    `[core]\n\trepositoryFormatVersion = ${isNew ? 1 : 0}\n\tbare = true\n${extensions}`,
  );
  await writeFile(path.join(directory, 'HEAD'), `${head}\n`);
  const lines = [...refs]
    .filter(([ref]) => !ref.endsWith('/HEAD'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([ref, commit]) => `${commit} ${ref}\n`);
  await writeFile(path.join(directory, 'packed-refs'), lines.join(''));
  await copyFile(path.join(commonDir, 'shallow'), path.join(directory, 'shallow')).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    },
  );
}
