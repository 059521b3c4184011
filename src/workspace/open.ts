/** Opens the workspaces of a repository in the way that this machine can. */
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Launcher } from '../system/process/process.ts';
import type { WhileAlone } from './bases.ts';
import { CloneWorkspaces } from './clone.ts';
import { OverlayWorkspaces } from './overlay.ts';
import type { Workspaces } from './workspace.ts';

export function openWorkspaces(
  engine: EngineGit,
  sandbox: { launcher: Launcher; overlay: boolean },
  whileAlone?: WhileAlone,
): Workspaces {
  return sandbox.overlay
    ? new OverlayWorkspaces(engine, sandbox.launcher, { whileAlone })
    : new CloneWorkspaces(engine, sandbox.launcher, { whileAlone });
}
