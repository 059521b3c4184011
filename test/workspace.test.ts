/** Every kind of workspace, as whoever runs the tests and, when that is root, as an ordinary user too. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { BareLauncher } from '../src/sandbox/none.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import { CloneWorkspaces } from '../src/workspace/clone.ts';
import { OverlayWorkspaces } from '../src/workspace/overlay.ts';
import { workspaceSuite } from './cases/workspace.case.ts';

workspaceSuite(
  'overlay',
  (git, launcher, limits) => new OverlayWorkspaces(git, launcher, limits ? { limits } : {}),
);
workspaceSuite(
  'overlay without native programs',
  (git, launcher, limits) =>
    new OverlayWorkspaces(git, launcher, { isNative: false, ...(limits && { limits }) }),
);
workspaceSuite(
  'clone',
  (git, launcher, limits) => new CloneWorkspaces(git, launcher, limits ? { limits } : {}),
  () => new BareLauncher(), // a machine without overlays has no namespaces either, most of the time
);

/** Nobody: a user that every system has and that owns nothing. */
const UID = 65534;

test.runIf(process.getuid?.() === 0)(
  'an ordinary user has the same overlay workspaces as root',
  { timeout: 300_000 },
  async () => {
    const root = path.dirname(import.meta.dirname);
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-user-'));
    await chown(directory, UID, UID);
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const args = [
      `--reuid=${UID}`,
      `--regid=${UID}`,
      '--clear-groups',
      '--',
      process.execPath,
      vitest,
      'run',
    ];
    const what = [
      '--configLoader',
      'runner',
      'test/workspace.test.ts',
      'test/hide.test.ts',
      'test/git.test.ts',
      '-t',
      'overlay workspaces|read-only',
    ];
    const env = { PATH: process.env.PATH, HOME: directory, TMPDIR: directory };
    try {
      const [error, output] = await new Promise<[Error | null, string]>((resolve) => {
        execFile(
          'setpriv',
          [...args, ...what],
          { cwd: root, env, maxBuffer: 64 * 1024 * 1024 },
          (failed, stdout, stderr) => resolve([failed, stdout + stderr]),
        );
      });
      expect(error, output).toBeNull();
      expect(output).toMatch(/Tests .*passed/);
    } finally {
      await removeTree(directory);
    }
  },
);
