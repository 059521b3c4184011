/** The workspaces of a repository: what is there, and taking away what nobody needs any more. */
import type { RunView } from '../contract/run.ts';
import { loadRun } from '../drive.ts';
import { enterEngineRoom, type EngineRoom } from './engine-room.ts';
import { findHome } from '../home.ts';
import type { WorkspaceEntry } from '../workspace/workspace.ts';
import { chooseSandbox } from '../sandbox/choose.ts';
import { openEngineGit } from '../system/engine-git.ts';
import { inspectRepository } from '../system/repository.ts';
import { openWorkspaces } from '../workspace/open.ts';

export async function workspaces(options: { cwd: string }): Promise<WorkspaceEntry[]> {
  const repository = await inspectRepository(options.cwd);
  if (!findHome(repository.top)) return [];
  const git = await openEngineGit(repository);
  return openWorkspaces(git, await chooseSandbox(git.home)).list();
}

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
      cleaned.kept.push({
        name,
        why: `run ${run.id} was interrupted and its work is not yet a commit; bosun resume ${run.id}`,
      });
    } else {
      await room.stages.workspaces.remove(name);
      cleaned.removed.push(name);
    }
  }
  const runs = await room.store.runs(1000);
  const open = runs.filter(({ state }) => state === 'running' || state === 'cancelling');
  await room.stages.workspaces.prune(new Set(open.map(({ baseCommit }) => baseCommit)));
  return cleaned;
}

async function neededWorkspaces(room: EngineRoom): Promise<Map<string, RunView>> {
  const needed = new Map<string, RunView>();
  for (const run of await room.store.runs(1000)) {
    if (run.state !== 'running' && run.state !== 'cancelling') continue;
    const { state } = await loadRun(room.store, run.id);
    for (const node of state.nodes.values())
      if (node.state === 'running' && node.workspace) needed.set(node.workspace, run);
  }
  return needed;
}
