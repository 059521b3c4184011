/** Makes one commit of an attempt's changes in the engine's git directory. Never runs git in a workspace. */
import { fileName } from '../base/file-name.ts';
import type { ChangedFile, Collected } from '../contract/run.ts';
import type { Change } from '../system/change.ts';
import type { ChangedPath, EngineGit } from '../system/engine-git.ts';
import { importCommit } from './import-commit.ts';

export const CHANGED_MAX = 1000;
const REFUSED_MAX = 1000;
/** Refs are files, whose names have a limit. */
const NAME_CHARS_MAX = 180;

export interface CollectRequest {
  git: EngineGit;
  changes: readonly Change[];
  /** The commit the workspace started from. */
  parent: string;
  /** The private ref that keeps the commit, see `attemptRef`. */
  ref: string;
  message: string;
  atMs: number;
}

export async function collect(request: CollectRequest): Promise<Omit<Collected, 'artifacts'>> {
  const { git, changes, parent, ref } = request;
  const refused = changes.flatMap((change) =>
    change.kind === 'refused' ? [`${change.path.toString()}: ${change.why}`] : [],
  );
  const nothing = { commit: parent, changed: [], changedCount: 0, refused: refused.slice(0, REFUSED_MAX) };
  if (refused.length === changes.length) return nothing;
  const imported = await importCommit(request);
  const paths = knownPaths(changes, imported.refused) ?? (await git.changedPaths(parent, imported.commit));
  if (paths.length === 0)
    return { ...nothing, refused: [...refused, ...imported.refused].slice(0, REFUSED_MAX) };
  await git.updateRef(ref, imported.commit);
  await git.imported(imported.commit, parent);
  const changed = paths
    .slice(0, CHANGED_MAX)
    .map(({ path, status }): ChangedFile => ({ path: path.toString(), change: CHANGE[status] }));
  return {
    commit: imported.commit,
    changed,
    changedCount: paths.length,
    refused: [...refused, ...imported.refused].slice(0, REFUSED_MAX),
  };
}

/** What a deleted directory held, or a change that was left out, only git can tell. */
function knownPaths(changes: readonly Change[], refused: string[]): ChangedPath[] | undefined {
  if (refused.length > 0) return undefined;
  const paths = new Map<string, ChangedPath>();
  for (const change of changes) {
    if (change.kind === 'refused') continue;
    if (change.kind === 'delete' && change.wasDirectory !== false) return undefined;
    const status = change.kind === 'delete' ? 'D' : change.isNew ? 'A' : 'M';
    paths.set(change.path.toString('latin1'), { path: change.path, status });
  }
  return [...paths.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}

const CHANGE = { A: 'added', M: 'modified', T: 'modified', D: 'deleted' } as const;

/** Task names may hold characters that refs may not: those are written as %XX. */
export function attemptRef(run: string, task: string, attempt: number): string {
  const tame = (text: string): string =>
    Array.from(Buffer.from(text), (byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
    }).join('');
  const name = tame(task);
  return `refs/bosun/${tame(run)}/${name.length > NAME_CHARS_MAX ? tame(fileName(task)) : name}@${attempt}`;
}
