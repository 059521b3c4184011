/** The workspaces of a repository: what is there, and taking away what nobody needs any more. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { RunView } from '../contract/run.ts';
import { loadRun } from '../drive.ts';
import { enterEngineRoom, type EngineRoom } from './engine-room.ts';
import { findHome } from '../home.ts';
import type { WorkspaceEntry } from '../workspace/workspace.ts';
import { chooseSandbox } from '../sandbox/choose.ts';
import { openEngineGit } from '../system/engine-git.ts';
import { removeTree } from '../system/remove-tree.ts';
import { inspectRepository } from '../system/repository.ts';
import { openWorkspaces } from '../workspace/open.ts';

export async function workspaces(options: { cwd: string }): Promise<WorkspaceEntry[]> {
  const repository = await inspectRepository(options.cwd);
  if (!findHome(repository.top)) return [];
  const git = await openEngineGit(repository);
  using all = openWorkspaces(git, await chooseSandbox(git.home));
  return await all.list();
}

const RUNS_MAX = 1000;

export interface Cleaned {
  removed: string[];
  /** Not removed, and why. */
  kept: { name: string; why: string }[];
}

/**
 * Removes workspaces that no attempt works in, and bases that no open run starts from. A workspace of a run that
 * was interrupted may hold work that is not yet a commit: it stays.
 */
export async function cleanWorkspaces(options: { cwd: string }): Promise<Cleaned> {
  await using room = await enterEngineRoom(options.cwd);
  const needed = await neededWorkspaces(room);
  const cleaned: Cleaned = { removed: [], kept: [] };
  for (const { name } of await room.stages.workspaces.list()) {
    const run = needed.get(name);
    if (run) {
      const next =
        run.state === 'failed' ? `its work could not be made a commit` : `bosun resume ${run.id} goes on`;
      cleaned.kept.push({ name, why: `it holds work of run ${run.id} that is not a commit; ${next}` });
    } else {
      await room.stages.workspaces.remove(name);
      cleaned.removed.push(name);
    }
  }
  const runs = await room.store.runs(RUNS_MAX);
  await forgetConversations(room, runs);
  const open = runs.filter(({ state }) => state === 'running' || state === 'cancelling');
  await room.stages.workspaces.prune(new Set(open.map(({ baseCommit }) => baseCommit)));
  return cleaned;
}

/** Agents remember as long as their run may go on by itself; without their workspaces nobody else could use that. */
async function forgetConversations({ home, store }: EngineRoom, runs: readonly RunView[]): Promise<void> {
  const needed = new Set<string>();
  for (const run of runs) {
    if (run.state !== 'running' && run.state !== 'cancelling') continue;
    for (const { id } of await store.tasks(run.id)) needed.add(home.memory(run.id, id));
  }
  for (const name of readdirSync(home.memories)) {
    const directory = path.join(home.memories, name);
    if (!needed.has(directory)) await removeTree(directory);
  }
}

/** Workspaces whose work is not yet a commit: of attempts that were interrupted, or could not be collected. */
async function neededWorkspaces(room: EngineRoom): Promise<Map<string, RunView>> {
  const needed = new Map<string, RunView>();
  for (const run of await room.store.runs(RUNS_MAX)) {
    if (run.state === 'done' && run.counts.failed === undefined) continue;
    const { state } = await loadRun(room.store, run.id);
    for (const node of state.nodes.values()) {
      const { workspace, isCollected } = node;
      if (workspace !== undefined && !isCollected) needed.set(workspace, run);
    }
  }
  return needed;
}
