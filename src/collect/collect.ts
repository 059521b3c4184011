/**
 * Makes one commit of an attempt's changes in the engine's git directory; where its scope does not allow them all,
 * a second one that has them nevertheless. Never runs git in a workspace.
 */
import { bytesKey } from '../base/bytes-key.ts';
import { fileName } from '../base/file-name.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { ChangedFile, Collected } from '../contract/run.ts';
import type { Change } from '../system/git/change.ts';
import type { ChangedPath, EngineGit } from '../system/git/engine-git.ts';
import { listFilesBelow } from './files-below.ts';
import { readGitFiles } from './git-files.ts';
import { directoriesToJudge, vetChanges, type VetScope, type Vetted } from './vet.ts';
import { writeCommit } from './write-commit.ts';

export const CHANGED_MAX = 1000;
const REFUSED_MAX = 1000;
/** What a file takes besides its content: its name in a tree, its place in a pack. */
const ENTRY_BYTES = 100;
/** Refs are files, whose names have a limit. */
const NAME_CHARS_MAX = 180;
/** Of the ref beside the attempt's own. */
const OUTSIDE_SUFFIX = '+outside';

export interface CollectRequest {
  git: EngineGit;
  changes: readonly Change[];
  /** What may go on to the result; with what the attempt was granted. */
  scope: VetScope;
  /** The commit the workspace started from. */
  parent: string;
  /** A further parent: what was published of this work before. These files take the place of those, whatever they are. */
  published?: string | undefined;
  /** What the changes are told against, where not the parent. */
  since?: string;
  /** The private ref that keeps the commit, see `attemptRef`. */
  ref: string;
  message: string;
  atMs: number;
  /** Once it is aborted its reason is thrown, and nothing is kept. */
  signal?: AbortSignal | undefined;
}

type Collection = Omit<Collected, 'artifacts'>;

export async function collect(request: CollectRequest): Promise<Collection> {
  const { git, parent, ref } = request;
  const vetted = await vet(request);
  const result = await commitOf(request, vetted.accepted);
  const left = vetted.outside.length > 0 ? await keepOutside(request, vetted, result.commit) : undefined;
  // Last: where this ref is there, all of the attempt is kept.
  if (result.commit !== parent) await git.updateRef(ref, result.commit);
  const never = vetted.refused.map(({ path, why }) => `${path.toString()}: ${why}`);
  const paths =
    request.since === undefined ? result.paths : await git.changedPaths(request.since, result.commit);
  const refused = new Set([...never, ...result.refused, ...(left?.refused ?? [])]);
  return {
    commit: result.commit,
    changed: paths.slice(0, CHANGED_MAX).map(shown),
    changedCount: paths.length,
    refused: [...refused].slice(0, REFUSED_MAX),
    ...(left && left.outside.count > 0 && { outside: left.outside }),
  };
}

/**
 * The same of an agent that goes on working: what its scope does not allow stays where it is until its end, and is only
 * counted. `admit` is told how much is about to be stored, and may refuse it.
 */
export async function collectPublished(
  request: CollectRequest,
  admit: (bytes: number) => void,
): Promise<PublishedFiles> {
  const { git, parent, ref, since } = request;
  const { accepted, outside } = await vet(request);
  admit(accepted.reduce((sum, change) => sum + ENTRY_BYTES + contentBytes(change), 0));
  const { commit, paths } = await commitOf(request, accepted);
  if (commit !== parent) await git.updateRef(ref, commit);
  const changed = since === undefined ? paths : await git.changedPaths(since, commit);
  return { commit, changedCount: changed.length, outsideCount: outside.length };
}

async function vet({ git, changes, scope, parent }: CollectRequest): Promise<Vetted> {
  const gitFiles = await readGitFiles(git, parent, changes);
  const filesBelow = await listFilesBelow(git, parent, directoriesToJudge(changes, scope));
  return vetChanges(changes, scope, filesBelow, gitFiles);
}

function contentBytes(change: Change): number {
  if (change.kind === 'file') return change.size;
  return change.kind === 'symlink' ? change.target.length : 0;
}

interface Made {
  /** The parent where nothing differs from it. */
  commit: string;
  paths: ChangedPath[];
  refused: string[];
}

async function commitOf(request: CollectRequest, changes: readonly Change[]): Promise<Made> {
  const { git, parent, published } = request;
  if (changes.length === 0 && (published === undefined || published === parent))
    return { commit: parent, paths: [], refused: [] };
  const { commit, refused } = await writeCommit({ ...request, changes });
  await git.stored(commit, parent);
  const paths = knownPaths(changes, refused) ?? (await git.changedPaths(parent, commit));
  const isNew = paths.length > 0 || (published !== undefined && published !== parent);
  return { commit: isNew ? commit : parent, paths, refused };
}

/** All that the attempt left, also what its scope does not allow, as a commit of its own: nothing is lost. */
async function keepOutside(
  request: CollectRequest,
  { whole, outside }: Vetted,
  result: string,
): Promise<{ outside: NonNullable<Collected['outside']>; refused: string[] }> {
  const { git, parent, ref } = request;
  const message = `${request.message.trimEnd()}, with what its scope does not allow\n`;
  const snapshot = await writeCommit({ ...request, message, changes: whole });
  await git.stored(snapshot.commit, parent);
  const paths = await git.changedPaths(result, snapshot.commit);
  // What was deleted and made again as it was is no change.
  if (paths.length > 0) await git.updateRef(`${ref}${OUTSIDE_SUFFIX}`, snapshot.commit);
  const whys = new Map(outside.map(({ path, why }) => [bytesKey(path), why]));
  const files = paths
    .slice(0, REFUSED_MAX)
    .map((path) => ({ ...shown(path), why: whys.get(bytesKey(path.path)) ?? 'outside the scope' }));
  return { outside: { snapshot: snapshot.commit, files, count: paths.length }, refused: snapshot.refused };
}

function shown({ path, status }: ChangedPath): ChangedFile {
  return { path: path.toString(), change: CHANGE[status] };
}

/** What a deleted directory held, what took the place of a file, or what was left out, only git can tell. */
function knownPaths(changes: readonly Change[], refused: string[]): ChangedPath[] | undefined {
  if (refused.length > 0) return undefined;
  const paths = new Map<string, ChangedPath>();
  for (const change of changes) {
    if (change.kind === 'refused') continue;
    if (change.kind === 'delete' && change.wasDirectory !== false) return undefined;
    if (paths.has(bytesKey(change.path))) return undefined;
    const status = change.kind === 'delete' ? 'D' : change.isNew ? 'A' : 'M';
    paths.set(bytesKey(change.path), { path: change.path, status });
  }
  return [...paths.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}

const CHANGE = { A: 'added', M: 'modified', T: 'modified', D: 'deleted' } as const;

/** The `n`th time that a task has published. */
export function publicationRef(run: string, task: string, attempt: number, n: number): string {
  return `${attemptRef(run, task, attempt)}+published-${n}`;
}

/** Keeps what a run started from, also where nothing came of it. */
export function baseRef(run: string): string {
  return `refs/bosun/${tame(run)}/base`;
}

/** The one commit in which a branch of the user's got all of the run, as that was at `head`. */
export function squashedRef(run: string, head: string): string {
  return `refs/bosun/${tame(run)}/squashed/${head}`;
}

function tame(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

/** Task names may hold characters that refs may not: those are written as %XX. */
export function attemptRef(run: string, task: string, attempt: number): string {
  const name = tame(task);
  return `refs/bosun/${tame(run)}/${name.length > NAME_CHARS_MAX ? tame(fileName(task)) : name}@${attempt}`;
}
