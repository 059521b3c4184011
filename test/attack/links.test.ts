/** Links that an attempt plants where a directory is to be opened for writing, before or while that is done. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { writableParts } from '../../src/sandbox/policy.ts';
import type { Fence } from '../../src/system/process/fence.ts';
import type { Launcher, Running } from '../../src/system/process/process.ts';
import { CloneWorkspaces } from '../../src/workspace/clone.ts';
import { OverlayWorkspaces } from '../../src/workspace/overlay.ts';
import type { Workspace, Workspaces } from '../../src/workspace/workspace.ts';
import { makeEngine, type TestEngine } from '../fixtures/engine.ts';

const FILES = { 'docs/a.md': 'as it was\n', 'src/a.js': '1\n', 'area/dir/a.txt': '1\n' };
const FENCE: Fence = {
  write: [''],
  keep: [],
  grantable: [],
  mask: [],
  read: [],
  own: [],
  egress: false,
  limits: {},
};

const KINDS: [string, (engine: TestEngine) => Workspaces][] = [
  ['an overlay', ({ git, sandbox }) => new OverlayWorkspaces(git, sandbox.launcher)],
  ['a copy', ({ git, sandbox }) => new CloneWorkspaces(git, sandbox.launcher)],
];

describe.each(KINDS)('in a workspace that is %s', (_kind, open) => {
  test('a link at a directory that may be written, planted by an earlier attempt, is refused', async () => {
    await using engine = await makeEngine({ files: FILES });
    using workspaces = open(engine);
    const outside = await makeOutside(engine);
    const workspace = await workspaces.create(await workspaces.base(engine.head), 'planted');
    const { launcher } = engine.sandbox;
    await finished(
      await launch(launcher, workspace, `rm -r src && ln -s ${outside} src && ln -s docs link`, FENCE),
    );

    const again = (await workspaces.open(workspace.name, workspace.base))!;
    const tree = await again.tree();
    expect(() => writableParts(['src/**'], tree)).toThrow(/src, which is a symbolic link/);
    expect(() => writableParts(['src/deep/*.js'], tree)).toThrow(/src, which is a symbolic link/);
    expect(() => writableParts(['link/**'], tree)).toThrow(/link, which is a symbolic link/);
    await expect(again.makeDirectories(['src/deep'])).rejects.toThrow(/src is not a directory/);
    expect(await readdir(outside)).toEqual(['target.txt']);

    // Whoever did not look would open what it leads to: this is what is refused above.
    const careless = { ...FENCE, write: ['link'] };
    const write = 'echo attacked > docs/a.md';
    const held = { ...FENCE, write: ['area'] };
    await finished(await launch(launcher, again, `! ${write}`, held));
    await finished(await launch(launcher, again, write, careless));
  });

  test('a link that takes the place of a directory while it is opened opens nothing else', async () => {
    await using engine = await makeEngine({ files: FILES });
    using workspaces = open(engine);
    const outside = await makeOutside(engine);
    const workspace = await workspaces.create(await workspaces.base(engine.head), 'raced');
    const swap = `
      cd area; mkdir real; ln -s ../docs link-1; ln -s ${outside} link-2; echo swapping
      while :; do
        for n in 1 2; do mv -T dir away; mv -T link-$n dir; echo attacked 2>/dev/null >../docs/a.md && echo WROTE
          mv -T dir link-$n; mv -T away dir; done
      done`;
    const fence = { ...FENCE, write: ['area', '.git'] };
    const running = await launch(engine.sandbox.launcher, workspace, swap, fence);
    const said = output(running);
    await until(() => said().includes('swapping'));
    const answers = new Set<string>();
    // Sixty times at least, and until both have won once.
    for (let n = 0; n < 60 || (answers.size < 2 && n < 2000); n += 1) {
      await running.grant!(['area/dir']).then(
        () => answers.add('opened'),
        () => answers.add('refused'),
      );
    }
    running.kill();
    await running.exited;
    expect(answers, 'the race was never won by either side').toEqual(new Set(['opened', 'refused']));
    expect(said()).not.toContain('WROTE');
    expect(await readFile(path.join(outside, 'target.txt'), 'utf8')).toBe('as it was\n');
    expect((await workspace.changes()).map(({ path: name }) => name.toString())).not.toContain('docs/a.md');
  });
});

async function makeOutside({ repository }: TestEngine): Promise<string> {
  const root = path.dirname(repository.path);
  const outside = path.join(root, 'outside');
  await mkdir(outside);
  await Promise.all([chmod(root, 0o755), chmod(outside, 0o777)]);
  await writeFile(path.join(outside, 'target.txt'), 'as it was\n');
  return outside;
}

async function launch(
  launcher: Launcher,
  workspace: Workspace,
  command: string,
  fence: Fence,
): Promise<Running> {
  const env = { PATH: '/usr/bin:/bin' };
  return launcher.launch({ ...(await workspace.inside({ fence })), argv: ['/bin/sh', '-c', command], env });
}

async function finished(running: Running): Promise<void> {
  const said = output(running);
  const { code } = await running.exited;
  if (code !== 0) throw new Error(`exit code ${code}: ${said()}`);
}

function output(running: Running): () => string {
  let said = '';
  for (const stream of [running.stdout, running.stderr])
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
  return () => said;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
