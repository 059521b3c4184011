/** What happens after an attack that shows only later, and whether it worked then. */
import { chmodSync, readdirSync, readFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { attemptRef, collect } from '../../src/collect/collect.ts';
import { BareLauncher } from '../../src/sandbox/none.ts';
import { openEngineGit, type EngineGit } from '../../src/system/git/engine-git.ts';
import { git } from '../../src/system/git/git.ts';
import { inspectRepository } from '../../src/system/git/repository.ts';
import { CloneWorkspaces } from '../../src/workspace/clone.ts';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { runToEnd } from './unfenced.ts';
import { giveAway, openToAll, type World } from './world.ts';

/** What a careless engine would do with a workspace. */
const CARELESS = `
git status; git diff; git add -A; git status; git -c user.name=a -c user.email=a@localhost commit -qm collected
cp -rL src "$WORLD/collected"
grep -rq "$SECRET" "$WORLD/collected" && echo attacked >>"$PROOF_FILE"
exit 0`;
const DAEMON_WAIT_MS = 300;

export interface EngineWorkspace {
  git: EngineGit;
  workspace: Workspace;
}

/** Puts a workspace of the engine's own making in the place of the plain one. */
export async function engineWorkspace(world: World): Promise<EngineWorkspace> {
  // Root's engine works below no directory whose entries everybody can replace; all that is open here stays open.
  const top = world.env.USER_REPO!;
  const above = path.dirname(top);
  for (const directory of [path.dirname(above), above, top, path.join(top, '.git')])
    chmodSync(directory, 0o1777);
  const repository = await inspectRepository(world.env.USER_REPO!);
  const engine = await openEngineGit(repository);
  const workspaces = new CloneWorkspaces(engine, new BareLauncher());
  const head = await git(['-C', world.env.USER_REPO!, 'rev-parse', 'HEAD']);
  const workspace = await workspaces.create(await workspaces.base(head.stdout.toString().trim()), 'attack');
  world.workspace = workspace.path;
  world.env.WORKSPACE = workspace.path;
  openToAll(workspace.path);
  giveAway(workspace.path);
  return { git: engine, workspace };
}

/** Evidence that planted code ran, or that a secret was taken along, when nobody took care. */
export async function collectCarelessly(world: World): Promise<string | undefined> {
  const env = { ...world.env, PATH: `src/bin:${world.env.PATH}`, HOME: world.env.HOME_DIR! };
  await runToEnd(['sh', '-c', CARELESS], { cwd: world.workspace, env });
  return existsSync(world.proofFile) ? 'planted code ran' : undefined;
}

/** The same for the engine's own way. */
export async function collectAsEngine(world: World, made: EngineWorkspace): Promise<string | undefined> {
  const searched = process.env.PATH;
  process.env.PATH = `src/bin:${searched}`;
  try {
    const changes = await made.workspace.changes();
    const collected = await collect({
      git: made.git,
      changes,
      scope: {},
      parent: made.workspace.base.commit,
      ref: attemptRef('attack', 'attack', 1),
      message: 'what an attack left',
      atMs: Date.now(),
    });
    if (existsSync(world.proofFile)) return 'planted code ran';
    const found = await git(
      ['--git-dir', made.git.directory, 'grep', '-l', world.env.SECRET!, collected.commit],
      {
        codes: [0, 1],
      },
    );
    return found.code === 0 ? `the secret was collected: ${found.stdout.toString()}` : undefined;
  } finally {
    process.env.PATH = searched;
  }
}

/** Finds processes that an attack left behind, and ends them. */
export async function leftBehind(world: World): Promise<string | undefined> {
  await setTimeout(DAEMON_WAIT_MS);
  const pids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && commandLine(name).includes(world.env.DAEMON_MARK!),
  );
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length > 0 ? `a daemon was alive: ${pids.join(' ')}` : undefined;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}
