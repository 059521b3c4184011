/**
 * Brings a commit of the engine into the user's repository: the one place that writes there. It changes all or
 * nothing: whatever stands in the way is found before a file is touched.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { EngineGit } from './engine-git.ts';
import { IDENTITY, reasonOf, splitNul, userGit } from './git.ts';
import { parseMergeTree } from './merge-tree.ts';
import { changedFiles, inspectRepository } from './repository.ts';

export interface Landed {
  kind: 'fast-forward' | 'merged' | 'nothing';
  /** The user's HEAD afterwards. */
  head: string;
  /** The branch it is on; undefined on a detached HEAD. */
  branch: string | undefined;
}

const UNFINISHED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];
const NAMES_SHOWN_MAX = 10;

/** `base` is what the run started from: with uncommitted changes in it, no commit that the user's branch knows. */
export async function land(
  engine: EngineGit,
  commit: string,
  base: string,
  message: string,
): Promise<Landed> {
  const { top, gitDir, head, branch } = await inspectRepository(engine.repository.top);
  const unfinished = UNFINISHED.find((name) => existsSync(path.join(gitDir, name)));
  if (unfinished !== undefined) {
    throw new BosunError(
      'wrong-state',
      `${top} is in the middle of something (${unfinished}): finish or abort it first, see git status`,
    );
  }
  const changed = await changedFiles(top, 'no');
  if (changed.length > 0) {
    throw new BosunError(
      'wrong-state',
      `${top} has changes that are not committed (${names(changed)}): commit or stash them, then merge again`,
      {
        data: { files: changed },
      },
    );
  }
  await fetchCommit(engine, commit);
  const user = (args: string[], codes: number[] = [0]): ReturnType<typeof userGit> =>
    userGit(args, { cwd: top, codes });
  const reaches = async (a: string, b: string): Promise<boolean> =>
    (await user(['merge-base', '--is-ancestor', a, b], [0, 1])).code === 0;
  if (await reaches(commit, head)) return { kind: 'nothing', head, branch };
  const isForward = await reaches(head, commit);
  const identity = (await hasIdentity(top))
    ? []
    : ['-c', `user.name=${IDENTITY.name}`, '-c', `user.email=${IDENTITY.email}`];
  const commitTree = async (tree: string, ...parents: string[]): Promise<string> => {
    const args = [
      ...identity,
      'commit-tree',
      tree,
      ...parents.flatMap((parent) => ['-p', parent]),
      '-m',
      message,
    ];
    return (await user(args)).stdout.toString().trim();
  };
  // Where the branch does not know the base, a commit that does stands for it while the merge is computed.
  const mine = (await reaches(base, head)) ? head : await commitTree(`${head}^{tree}`, head, base);
  const target = isForward ? commit : await commitTree(await mergedTree(top, mine, commit), head, commit);
  await refuseLoss(top, head, target);
  const merged = await undisturbed(top, [
    'merge',
    '--quiet',
    '--no-stat',
    '--no-autostash',
    '--ff-only',
    target,
  ]);
  if (merged.code !== 0) {
    throw refusal(top, merged.stderr);
  }
  const after = (await user(['rev-parse', 'HEAD'])).stdout.toString().trim();
  return { kind: isForward ? 'fast-forward' : 'merged', head: after, branch };
}

/** All or nothing: a Ctrl-C while files are written must not leave half of them. */
async function undisturbed(top: string, args: string[]): ReturnType<typeof userGit> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const wait = (): void => {};
  for (const signal of signals) process.on(signal, wait);
  try {
    return await userGit(args, { cwd: top, codes: [0, 1, 2, 128], detached: true });
  } finally {
    for (const signal of signals) process.off(signal, wait);
  }
}

/** Copies what the user's repository lacks; no ref is made there. */
async function fetchCommit(engine: EngineGit, commit: string): Promise<void> {
  const config = ['protocol.file.allow=always', 'fetch.fsckObjects=false', 'fetch.writeCommitGraph=false'];
  const only = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
  const settings = config.flatMap((setting) => ['-c', setting]);
  await userGit([...settings, 'fetch', '--quiet', ...only, engine.directory, commit], {
    cwd: engine.repository.top,
  });
}

/** The tree that the merge will give; refused where the two conflict. */
async function mergedTree(top: string, mine: string, commit: string): Promise<string> {
  const result = await userGit(['merge-tree', '--write-tree', '-z', mine, commit], {
    cwd: top,
    codes: [0, 1],
  });
  const { files, tree } = parseMergeTree(result.stdout);
  if (result.code === 0) return tree;
  throw new BosunError(
    'conflict',
    `the run's changes conflict with yours in ${names(files)}; nothing was changed: merge by hand with git merge ${commit}`,
    { data: { files } },
  );
}

/**
 * The tree is clean, so whatever stands where the merge adds something is a file that git does not track: the
 * user's own. git itself spares those only that are not ignored.
 */
async function refuseLoss(top: string, head: string, result: string): Promise<void> {
  const diff = ['diff', '--name-only', '--no-renames', '--diff-filter=AT', '-z', head, result];
  const added = splitNul((await userGit(diff, { cwd: top })).stdout).map(String);
  const index = new Set(splitNul((await userGit(['ls-files', '-z'], { cwd: top })).stdout).map(String));
  const inTheWay = new Set(added.flatMap((file) => ownFilesAt(top, file, index)));
  if (inTheWay.size > 0) throw overwriting(top, [...inTheWay]);
}

/** Files that git does not track at a path, below it, or in the place of a directory above it. */
function ownFilesAt(top: string, file: string, index: ReadonlySet<string>): string[] {
  for (let above = path.dirname(file); above !== '.'; above = path.dirname(above)) {
    const stat = lstatSync(path.join(top, above), { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) return index.has(above) ? [] : [above];
  }
  const stat = lstatSync(path.join(top, file), { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return index.has(file) ? [] : [file];
  const below = readdirSync(path.join(top, file), { recursive: true, withFileTypes: true });
  return below
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(top, path.join(entry.parentPath, entry.name)))
    .filter((own) => !index.has(own));
}

async function hasIdentity(top: string): Promise<boolean> {
  const name = await userGit(['config', 'user.name'], { cwd: top, codes: [0, 1] });
  const email = await userGit(['config', 'user.email'], { cwd: top, codes: [0, 1] });
  const given = process.env.GIT_COMMITTER_NAME !== undefined && process.env.GIT_COMMITTER_EMAIL !== undefined;
  return given || (name.code === 0 && email.code === 0);
}

function refusal(top: string, stderr: string): BosunError {
  const overwritten = /untracked working tree files would be overwritten/.test(stderr);
  if (!overwritten)
    return new BosunError('wrong-state', `git refused to merge in ${top}: ${reasonOf(stderr)}`);
  return overwriting(
    top,
    stderr.split('\n').flatMap((line) => (line.startsWith('\t') ? [line.trim()] : [])),
  );
}

function overwriting(top: string, files: string[]): BosunError {
  return new BosunError(
    'wrong-state',
    `merging would overwrite files in ${top} that git does not track (${names(files)}); nothing was changed: move them away, then merge again`,
    { data: { files } },
  );
}

function names(files: string[]): string {
  const shown = files.slice(0, NAMES_SHOWN_MAX).join(', ');
  return files.length > NAMES_SHOWN_MAX ? `${shown} and ${files.length - NAMES_SHOWN_MAX} more` : shown;
}
