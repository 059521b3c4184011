/** The workspaces of a repository: what is there. Taking them away: clean.ts. */
import type { Reading } from '../contract/operations.ts';
import { findHome } from '../store/home.ts';
import type { WorkspaceEntry } from '../workspace/workspace.ts';
import { chooseSandbox } from '../sandbox/choose.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { openWorkspaces } from '../workspace/open.ts';

export async function workspaces(options: Reading<'workspaces'>): Promise<WorkspaceEntry[]> {
  const repository = await inspectRepository(options.cwd);
  if (!findHome(repository.top)) return [];
  const git = await openEngineGit(repository);
  using all = openWorkspaces(git, await chooseSandbox(git.sandbox));
  return await all.list();
}
