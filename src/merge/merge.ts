/**
 * Brings results of tasks together. Commits are computed on a private history that knows all ancestry (the
 * shadow head); what people see is linear, one commit per task. A conflict is a value. Never moves a ref but
 * in `setBranch`, never touches a file.
 *
 *   private:  base ── a ───────────── m2 (shadow)     linear:  base ── a' ── b'
 *               └──── b ─────────────┘
 */
import type { Conflict } from '../contract/run.ts';
import { IDENTITY, type Identity } from '../system/git/git.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { parseMergeTree, type MergeTree } from '../system/git/merge-tree.ts';
import { withCoAuthor } from './message.ts';
import { resolveTree } from './resolve-tree.ts';
import { tasksThatTouched } from './touched.ts';

/** From how many results on it pays to ask whether they are all there is. */
const MANY = 4;

export interface MergeRequest {
  git: EngineGit;
  /** The commit the run started from. */
  base: string;
  /** The head of the private history, and that of the run's branch; both are `base` at first. */
  shadow: string;
  head: string;
  /** The commit that was collected from the task; its message should have the trailers of `mergeMessage` too. */
  result: string;
  /** Of the commit on the branch, see `mergeMessage`. */
  message: string;
  /** Whose commit on the branch it is; bosun's where nobody is named. */
  author?: Identity;
  atMs: number;
  /** Anything but ours and theirs leaves a conflict to the caller. */
  onConflict: string;
}

export type MergeOutcome =
  | {
      kind: 'merged';
      /** On the branch; absent where the branch had the changes already. */
      commit?: string;
      shadow: string;
      result: string;
      conflict?: Conflict & { resolved: string };
    }
  | { kind: 'conflict'; conflict: Conflict; marked: string };

export async function mergeResult(request: MergeRequest): Promise<MergeOutcome> {
  const { git, shadow, result, message, atMs } = request;
  if (await git.isAncestor(result, shadow)) return { kind: 'merged', shadow, result };
  if (await git.isAncestor(shadow, result)) {
    const commit = await commitOnBranch(request, `${result}^{tree}`);
    return { kind: 'merged', ...commit, shadow: result, result };
  }
  const merged = await mergeTree(git, shadow, result);
  if (merged.files.length === 0) {
    const joined = await git.commitTree({ tree: merged.tree, parents: [shadow, result], message, atMs });
    const commit = await commitOnBranch(request, merged.tree);
    return { kind: 'merged', ...commit, shadow: joined, result };
  }
  return settle(request, merged);
}

async function settle(request: MergeRequest, merged: MergeTree): Promise<MergeOutcome> {
  const { git, base, shadow, head, result, message, atMs, onConflict } = request;
  const conflict: Conflict = {
    files: merged.files,
    with: await tasksThatTouched(git, { base, shadow, head, result, files: merged.files }),
  };
  if (onConflict !== 'ours' && onConflict !== 'theirs') {
    const marked = await git.commitTree({ tree: merged.tree, parents: [shadow, result], message, atMs });
    return { kind: 'conflict', conflict, marked };
  }
  const tree = await resolveTree(git, merged, onConflict === 'ours' ? shadow : result, onConflict);
  const joined = await git.commitTree({ tree, parents: [shadow, result], message, atMs });
  const commit = await commitOnBranch(request, tree);
  // what comes after this task starts from the settled files, so that nothing conflicts twice
  return {
    kind: 'merged',
    ...commit,
    shadow: joined,
    result: joined,
    conflict: { ...conflict, resolved: onConflict },
  };
}

async function commitOnBranch(
  { git, head, message, atMs, author = IDENTITY }: MergeRequest,
  tree: string,
): Promise<{ commit?: string }> {
  const [now, before] = (await git.text(['rev-parse', tree, `${head}^{tree}`])).split('\n') as [
    string,
    string,
  ];
  if (now === before) return {};
  const signed = withCoAuthor(message, author);
  return { commit: await git.commitTree({ tree: now, parents: [head], message: signed, atMs, author }) };
}

/**
 * The one commit that holds all of these results; undefined where they conflict. Many results are often all there
 * is: then the head of the private history is that commit already.
 */
export async function joinBases(
  git: EngineGit,
  commits: readonly string[],
  shadow: string,
): Promise<string | undefined> {
  const distinct = [...new Set(commits)];
  if (distinct.length <= 1) return distinct[0];
  if (distinct.length >= MANY && (await holdsExactly(git, shadow, distinct))) return shadow;
  const independent = (await git.text(['merge-base', '--independent', ...distinct])).split('\n').sort();
  let [joined, ...others] = independent as [string, ...string[]];
  for (const other of others) {
    const merged = await mergeTree(git, joined, other);
    if (merged.files.length > 0) return undefined;
    // no clock here: joining the same results again must give the same commit, which may have a base already
    const dates = (await git.text(['log', '--no-walk', '--format=%ct', joined, other]))
      .split('\n')
      .map(Number);
    joined = await git.commitTree({
      tree: merged.tree,
      parents: [joined, other],
      message: 'Join results\n',
      atMs: Math.max(...dates) * 1000,
    });
  }
  return joined;
}

async function holdsExactly(git: EngineGit, head: string, commits: readonly string[]): Promise<boolean> {
  const isEmpty = async (revisions: string[]): Promise<boolean> =>
    (await git.text(['rev-list', '--max-count=1', '--no-merges', '--stdin'], {
      input: revisions.join('\n'),
    })) === '';
  const [noMore, noLess] = await Promise.all([
    isEmpty([head, ...commits.map((commit) => `^${commit}`)]),
    isEmpty([...commits, `^${head}`]),
  ]);
  return noMore && noLess;
}

/** Makes the run's branch in the engine's git directory say what the journal says; harmless when it does already. */
export async function setBranch(git: EngineGit, run: string, commit: string): Promise<void> {
  await git.updateRef(branchRef(run), commit);
}

export function branchRef(run: string): string {
  return `refs/heads/bosun/${run}`;
}

async function mergeTree(git: EngineGit, ours: string, theirs: string): Promise<MergeTree> {
  const { code, stdout } = await git.run(['merge-tree', '--write-tree', '-z', ours, theirs], {
    codes: [0, 1],
  });
  const merged = parseMergeTree(stdout);
  // a conflict without any file, such as two directories renamed into each other, is still one
  if (code === 1 && merged.files.length === 0)
    merged.files.push(...merged.messages.flatMap(({ paths }) => paths.map(String)));
  return code === 0 ? { ...merged, files: [] } : merged;
}
