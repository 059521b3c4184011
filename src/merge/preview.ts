/** What a landing would do: which files, whether they conflict, what stands in its way. It changes nothing of the user's. */
import { BosunError } from '../contract/errors.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { refuseUnfinished } from '../system/git/unfinished.ts';
import { openWorkTree } from '../system/git/work-tree.ts';
import { isSameTree, mergeTrees, refuseLoss, refuseUncommitted, type LandRequest } from './land.ts';
import { conflictText } from './conflict-text.ts';

export interface LandingPreview {
  kind: 'fast-forward' | 'merged' | 'squashed' | 'nothing' | 'conflict';
  /** Where it would land: the user's HEAD, and its branch. */
  onto: string;
  branch: string | undefined;
  /** Of the user's branch, as far as no conflict leaves that open; else of the run. */
  files: { path: string; added: number | null; deleted: number | null }[];
  conflicts: { path: string; text?: string }[];
  /** Why nothing could land just now, and what to do. */
  blocked?: string;
}

const CONFLICTS_SHOWN_MAX = 20;

export async function previewLanding(
  engine: EngineGit,
  { commit, base, squash = false }: Pick<LandRequest, 'commit' | 'base' | 'squash'>,
): Promise<LandingPreview> {
  const repository = await inspectRepository(engine.repository.top);
  const { top, head, branch } = repository;
  const where = { onto: head, branch };
  if (await engine.isAncestor(commit, head)) return { kind: 'nothing', ...where, files: [], conflicts: [] };
  await using tree = await openWorkTree(repository);
  const isForward = await engine.isAncestor(head, commit);
  const merged = isForward ? undefined : await mergeTrees(engine, tree, repository, { base, commit });
  const inTheWay = await inTheWayOf(() => {
    refuseUnfinished(repository);
    return refuseUncommitted(tree, top);
  });
  if (merged && !merged.isClean) {
    const blocked = inTheWay === undefined ? {} : { blocked: inTheWay };
    const conflicts = await conflictsIn(engine, merged.tree, merged.files);
    return { kind: 'conflict', ...where, files: await filesOf(engine, base, commit), conflicts, ...blocked };
  }
  const result = merged?.tree ?? `${commit}^{tree}`;
  if ((squash || !isForward) && (await isSameTree(engine, result, head)))
    return { kind: 'nothing', ...where, files: [], conflicts: [] };
  const blocked = inTheWay ?? (await inTheWayOf(() => refuseLoss(engine, tree, top, head, result)));
  return {
    kind: squash ? 'squashed' : isForward ? 'fast-forward' : 'merged',
    ...where,
    files: await filesOf(engine, head, result),
    conflicts: [],
    ...(blocked !== undefined && { blocked }),
  };
}

async function inTheWayOf(look: () => Promise<void>): Promise<string | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    if (error instanceof BosunError && error.code === 'wrong-state') return error.message;
    throw error;
  }
}

async function conflictsIn(
  engine: EngineGit,
  tree: string,
  files: readonly string[],
): Promise<LandingPreview['conflicts']> {
  const conflicts: LandingPreview['conflicts'] = [];
  for (const [n, path] of files.entries()) {
    const text = n < CONFLICTS_SHOWN_MAX ? await conflictText(engine, tree, path) : undefined;
    conflicts.push({ path, ...(text !== undefined && { text }) });
  }
  return conflicts;
}

async function filesOf(engine: EngineGit, from: string, to: string): Promise<LandingPreview['files']> {
  return (await engine.numstat(from, to)).map(({ path, added, deleted }) => ({
    path: path.toString(),
    added: added ?? null,
    deleted: deleted ?? null,
  }));
}
