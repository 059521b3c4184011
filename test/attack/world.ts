/** The throw-away world that an attack is let loose in: everything it could be after, none of it real. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Fence } from '../../src/system/process/fence.ts';
import { limitOf, type Attack } from './attacks.ts';

export interface World {
  root: string;
  workspace: string;
  /** Where the programs lie; readable from inside. */
  programs: string;
  /** What the programs are told of the world; nothing else is in their environment. */
  env: Record<string, string>;
  fence: Fence;
  /** Left by planted code that ran. */
  proofFile: string;
}

/** What all worlds of a runner have in common. */
export interface Surroundings {
  /** Holds the template and every world; may be entered by everyone. */
  directory: string;
  secret: string;
  servers: Record<string, string>;
}

const GIT = [
  '-c',
  'user.name=somebody',
  '-c',
  'user.email=somebody@localhost',
  '-c',
  'init.defaultBranch=main',
];
/** Inside a fence that is made by root, an attempt is this user: the same number as the launcher's. */
const FENCED_UID = 64123;

/** Makes the files once; worlds are copies. */
export function makeTemplate({ directory, secret }: Surroundings): void {
  const files: Record<string, string> = {
    'secret/secret.txt': `${secret}\n`,
    'outside/target.txt': 'as it was\n',
    'own/files/prompt': 'a prompt, as it was\n',
    'outside/held.txt': `held-${secret}\n`,
    'engine/bosun.db': `${secret}\n`,
    'base/package.json': '{ "scripts": { "test": "true" } }\n',
    'home/.bashrc': '# as it was\n',
    'home/.gitconfig': '# as it was\n',
    'home/.ssh/id_ed25519': `no key but ${secret}\n`,
    'home/.ssh/authorized_keys': '# as it was\n',
    'repo/package.json': '{ "scripts": { "test": "true" } }\n',
    'repo/docs/spec.md': 'a specification, as it was\n',
    'repo/src/index.js': 'console.log(1);\n',
    'repo/src/locked/deep/kept.txt': 'as it was\n',
    'workspaces/other/src/index.js': `// ${secret}\n`,
  };
  const template = path.join(directory, 'template');
  mkdirSync(path.join(template, 'proof'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(template, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(template, name), text);
  }
  const repo = path.join(template, 'repo');
  const git = (...args: string[]): unknown =>
    execFileSync('git', [...GIT, '-C', repo, ...args], { stdio: 'pipe' });
  git('init', '--quiet', '--template=', '.');
  mkdirSync(path.join(repo, '.git/hooks'));
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  git('gc', '--quiet');
  git('update-ref', 'refs/heads/main', 'HEAD');
  cpSync(repo, path.join(template, 'workspaces/mine'), { recursive: true });
  openToAll(template);
  cpSync(path.join(import.meta.dirname, 'programs'), path.join(directory, 'programs'), { recursive: true });
  openToAll(path.join(directory, 'programs'));
}

export function makeWorld(attack: Attack, surroundings: Surroundings): World {
  const { directory, secret, servers } = surroundings;
  const root = mkdtempSync(path.join(directory, 'world-'));
  cpSync(path.join(directory, 'template'), root, { recursive: true });
  chmodSync(root, 0o777);
  const at = (...names: string[]): string => path.join(root, ...names);
  const workspace = at('workspaces/mine');
  const programs = path.join(directory, 'programs');
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    HOME: '/home/agent',
    LANG: 'C',
    WORLD: root,
    WORKSPACE: workspace,
    PROGRAMS: programs,
    SECRET: secret,
    SECRET_FILE: at('secret/secret.txt'),
    TARGET_FILE: at('outside/target.txt'),
    SIBLING_FILE: at('workspaces/other/src/index.js'),
    ENGINE_DB: at('engine/bosun.db'),
    ENGINE_NAME: 'runner.ts',
    HOME_DIR: at('home'),
    HOME_FILE: at('home/.bashrc'),
    USER_GIT_CONFIG: at('home/.gitconfig'),
    SSH_KEY: at('home/.ssh/id_ed25519'),
    SSH_AUTHORIZED_KEYS: at('home/.ssh/authorized_keys'),
    USER_REPO: at('repo'),
    USER_REPO_CONFIG: at('repo/.git/config'),
    OWN_FILES: at('own/files'),
    BASE_FILE: at('base/package.json'),
    PROOF_FILE: at('proof/proof.txt'),
    LEAKED: process.env.LEAKED ?? '',
    DAEMON_MARK: `8.${path.basename(root).replace(/\D/g, '')}${process.pid}${Date.now()}`,
    LIMIT: String(limitOf(attack)),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    ...servers,
  };
  const fence: Fence = {
    write: ['src', '.git'],
    keep: ['src/locked/deep'],
    read: [programs, path.dirname(process.execPath)],
    own: [env.OWN_FILES],
    sockets: path.dirname(servers.OWN_SOCKET!),
    grantable: [],
    mask: [],
    egress: false,
    limits: attack.limits ?? {},
  };
  const world = { root, workspace, programs, env, fence, proofFile: env.PROOF_FILE };
  giveAway(workspace);
  giveAway(env.OWN_FILES);
  return world;
}

export function removeWorld({ root }: World): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}

/** Starts the process that stands for the engine, and tells the world where its secrets are. */
export async function startVictim(world: World, secret: string, withKey: boolean): Promise<ChildProcess> {
  const key = `held-${secret}`;
  const shared = {
    KEY_NAME: `${path.basename(world.root)}-${process.pid}`,
    SHARED_KEY: String(Number.parseInt(secret.slice(0, 7), 16) + 1),
  };
  const victim = spawn('perl', [path.join(world.programs, 'world/victim.pl')], {
    cwd: path.join(world.root, 'outside'),
    env: {
      ...world.env,
      ...shared,
      ENGINE_KEY: key,
      WITH_KEY: withKey ? '1' : '',
      HELD_FILE: path.join(world.root, 'outside/held.txt'),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // whatever is done to it, is not done to the runner
  });
  const [line] = (await once(victim.stdout, 'data')) as [Buffer];
  const [address, descriptor, handle = ''] = line.toString().trim().split(' ');
  const pid = String(victim.pid);
  Object.assign(world.env, shared, {
    VICTIM_PID: pid,
    ENGINE_PID: pid,
    VICTIM_SECRET: key,
    VICTIM_ADDRESS: address,
    VICTIM_DESCRIPTOR: descriptor,
    SECRET_HANDLE: handle,
  });
  return victim;
}

/** One line for each file that an attempt must not change: all but what its scope names. */
export function photograph(world: World): Map<string, string> {
  const lines = new Map<string, string>();
  const own = ['src', '.git'].map((name) => path.join(world.workspace, name));
  own.push(...world.fence.own);
  const kept = path.join(world.workspace, 'src/locked/deep');
  const engine = path.join(world.root, 'repo/.git/bosun');
  const walk = (file: string): void => {
    const isWorkspace = file.startsWith(world.workspace);
    if (
      (file === engine || file.startsWith(`${engine}/`)) &&
      !isWorkspace &&
      !world.workspace.startsWith(file)
    )
      return;
    const stat = lstatSync(file);
    const isOwn = own.some((name) => file === name || file.startsWith(`${name}/`)) && !file.startsWith(kept);
    if (stat.isDirectory()) {
      if (!isOwn) lines.set(file, `${stat.mode} ${stat.uid}`);
      for (const name of readdirSync(file)) walk(path.join(file, name));
    } else if (!isOwn && !file.startsWith(path.join(world.root, 'proof'))) {
      lines.set(
        file,
        `${stat.mode} ${stat.uid} ${stat.nlink} ${stat.mtimeMs} ${contentOf(file, stat.isFile())}`,
      );
    }
  };
  walk(world.root);
  lines.set('core_pattern', readFileSync('/proc/sys/kernel/core_pattern', 'utf8'));
  return lines;
}

/** Names what is not as it was. */
export function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

function contentOf(file: string, isFile: boolean): string {
  if (!isFile) return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : '';
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Whoever the attempt is, modes and owners must not be what protects the world: the fence alone is on trial. */
export function openToAll(file: string): void {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return;
  chmodSync(file, stat.isDirectory() ? 0o777 : 0o666 | (stat.mode & 0o111));
  if (stat.isDirectory()) for (const name of readdirSync(file)) openToAll(path.join(file, name));
}

/** A fence made by root runs the attempt as somebody else, who must own what it may change. */
export function giveAway(file: string): void {
  if (process.getuid!() !== 0) return;
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return;
  chownSync(file, FENCED_UID, FENCED_UID);
  if (stat.isDirectory()) for (const name of readdirSync(file)) giveAway(path.join(file, name));
}
