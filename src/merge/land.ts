/**
 * Brings a commit of the engine into the user's repository: the one place that puts work of agents there. Whatever
 * stands in the way is found before a file is touched; how files, index and branch then change together is `landing.ts`.
 */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { LandedAs } from '../contract/landed.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { splitNul } from '../system/git/git.ts';
import { moveBranchTo, type LandingRecord } from './landing.ts';
import { parseMergeTree, type MergeTree } from '../system/git/merge-tree.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { refuseUnfinished } from '../system/git/unfinished.ts';
import { openWorkTree, type WorkTree } from '../system/git/work-tree.ts';

export interface Landed {
  kind: 'fast-forward' | 'merged' | 'squashed' | 'nothing';
  /** The user's HEAD afterwards. */
  head: string;
  /** The branch it is on; undefined on a detached HEAD. */
  branch: string | undefined;
}

export interface LandRequest {
  /** `Home.landing` */
  directory: string;
  commit: string;
  /** What the run started from: with uncommitted changes in it, no commit that the user's branch knows. */
  base: string;
  /** Of the commit that a merge or a squash makes. */
  message: string;
  /** What is merged, in words. */
  what: string;
  /** One commit with all of it, in place of the run's own. */
  squash?: boolean;
  /** Has the last word before anything of the user's changes: throws where this commit of the engine must not land. */
  check?(commit: string): Promise<void>;
  /** What is recorded of it. */
  record?(landed: Landed & Pick<LandedAs, 'kind'>, from: string): LandingRecord;
  /** Gives up, as long as nothing of the user's has changed. */
  signal?: AbortSignal;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
}

const NAMES_SHOWN_MAX = 10;

/** Whoever calls it holds the lock on merges. */
export async function land(engine: EngineGit, request: LandRequest): Promise<Landed> {
  const { commit, base, message, squash = false } = request;
  const repository = await inspectRepository(engine.repository.top);
  const { top, commonDir, head, branch } = repository;
  refuseUnfinished(repository);
  const objects = path.join(commonDir, 'objects');
  await using tree = await openWorkTree(repository);
  await refuseUncommitted(tree, top);
  if (await engine.isAncestor(commit, head)) return { kind: 'nothing', head, branch };
  const isForward = await engine.isAncestor(head, commit);
  const commitTree = async (of: string, ...parents: string[]): Promise<string> =>
    engine.commitTree({ tree: of, parents, message, atMs: Date.now(), author: await repository.identity() });
  const result = isForward
    ? `${commit}^{tree}`
    : await mergedTree(engine, tree, repository, { base, commit });
  // Also after a squash: its commits are not on the branch, but what they did is.
  if ((squash || !isForward) && (await isSameTree(engine, result, head)))
    return { kind: 'nothing', head, branch };
  const parents = squash ? [head] : [head, commit];
  const target = isForward && !squash ? commit : await commitTree(result, ...parents);
  await refuseLoss(engine, tree, top, head, target);
  await request.check?.(target);
  await handOver(engine, objects, head, target);
  request.signal?.throwIfAborted();
  const { directory, what, fault } = request;
  const kind = squash ? 'squashed' : isForward ? 'fast-forward' : 'merged';
  const landed = { kind, head: target, branch } as const;
  const record = request.record?.(landed, head);
  await undisturbed(() =>
    moveBranchTo({ directory, engine, repository, tree, to: target, what, record, fault }),
  );
  return landed;
}

export async function refuseUncommitted(
  tree: WorkTree,
  top: string,
  { isUndo = false }: { isUndo?: boolean } = {},
): Promise<void> {
  const files = await tree.changed('no');
  if (files.length === 0) return;
  const found = `${top} has changes that are not committed (${names(files)}`;
  const what = isUndo
    ? `${found}): commit or stash them, then undo the merge again`
    : `${found}): commit or stash them, then merge again`;
  throw new BosunError('wrong-state', what, { data: { files } });
}

/** All or nothing: a Ctrl-C while files are written must not leave half of them. */
export async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const wait = (): void => {};
  for (const signal of signals) process.on(signal, wait);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, wait);
  }
}

/** Writes a pack of what the user's repository lacks; no ref is made there. */
async function handOver(engine: EngineGit, objects: string, head: string, commit: string): Promise<void> {
  const args = [
    'pack-objects',
    '--quiet',
    '--revs',
    '--delta-base-offset',
    path.join(objects, 'pack', 'pack'),
  ];
  await engine.run(args, { input: `${commit}\n^${head}\n` });
}

/** The tree that the merge will give; refused where the two conflict. */
async function mergedTree(
  engine: EngineGit,
  tree: WorkTree,
  repository: Repository,
  sides: { base: string; commit: string },
): Promise<string> {
  const { files, tree: merged, isClean } = await mergeTrees(engine, tree, repository, sides);
  if (isClean) return merged;
  const { commit } = sides;
  await handOver(engine, path.join(repository.commonDir, 'objects'), repository.head, commit); // so that git knows what to merge by hand
  throw new BosunError(
    'conflict',
    `the run's changes conflict with yours in ${names(files)}; nothing was changed: merge by hand with git merge ${commit}`,
    { data: { files } },
  );
}

/**
 * What a merge would give, written nowhere but among the objects of the engine. The attributes of the user's files count
 * (`merge=union`), drivers do not: these are commands.
 */
export async function mergeTrees(
  engine: EngineGit,
  tree: WorkTree,
  repository: Repository,
  { base, commit }: { base: string; commit: string },
): Promise<MergeTree & { isClean: boolean }> {
  const { head } = repository;
  // Where the branch does not know the base, a commit that does stands for it while the merge is computed.
  const mine = (await engine.isAncestor(base, head))
    ? head
    : await engine.commitTree({
        tree: `${head}^{tree}`,
        parents: [head, base],
        message: 'mine',
        atMs: Date.now(),
        author: await repository.identity(),
      });
  const result = await tree.run(['merge-tree', '--write-tree', '-z', mine, commit], {
    objects: path.join(engine.directory, 'objects'),
    env: { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    codes: [0, 1],
  });
  return { ...parseMergeTree(result.stdout), isClean: result.code === 0 };
}

export async function isSameTree(engine: EngineGit, tree: string, head: string): Promise<boolean> {
  return (await engine.revParse(tree)) === (await engine.revParse(`${head}^{tree}`));
}

/**
 * The tree is clean, so whatever stands where the merge adds something is a file that git does not track: the
 * user's own. git itself spares those only that are not ignored.
 */
export async function refuseLoss(
  engine: EngineGit,
  tree: WorkTree,
  top: string,
  head: string,
  result: string,
): Promise<void> {
  const added = (await engine.changedPaths(head, result)).filter(
    ({ status }) => status === 'A' || status === 'T',
  );
  const index = new Set(splitNul((await tree.run(['ls-files', '-z'])).stdout).map(String));
  const inTheWay = new Set(added.flatMap((file) => ownFilesAt(top, file.path.toString(), index)));
  if (inTheWay.size === 0) return;
  const files = [...inTheWay];
  throw new BosunError(
    'wrong-state',
    `merging would overwrite files in ${top} that git does not track (${names(files)}); nothing was changed: commit them, or move them away, then merge again`,
    { data: { files } },
  );
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

function names(files: string[]): string {
  const shown = files.slice(0, NAMES_SHOWN_MAX).join(', ');
  return files.length > NAMES_SHOWN_MAX ? `${shown} and ${files.length - NAMES_SHOWN_MAX} more` : shown;
}
