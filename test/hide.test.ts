/** Hidden files in every kind of workspace; test/workspace.test.ts runs these as an ordinary user too. */
import { BareLauncher } from '../src/sandbox/none.ts';
import { CloneWorkspaces } from '../src/workspace/clone.ts';
import { OverlayWorkspaces } from '../src/workspace/overlay.ts';
import { hideSuite } from './cases/hide.case.ts';

hideSuite(
  'overlay',
  (git, launcher, limits) => new OverlayWorkspaces(git, launcher, limits ? { limits } : {}),
);
hideSuite(
  'clone',
  (git, launcher, limits) => new CloneWorkspaces(git, launcher, limits ? { limits } : {}),
  () => new BareLauncher(),
);
