/** Finds out, by trying, what this machine can hold a command with. Never claims what it did not see work. */
import { renameSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { BosunError } from '../contract/errors.ts';
import type { SandboxKind } from '../contract/isolation.ts';
import type { Fence } from '../system/process/fence.ts';
import { findProgram, type Launch, type Launcher } from '../system/process/process.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { give } from '../system/process/sandbox-user.ts';
import { prepareEtc } from './linux/etc.ts';
import { chooseLimits, type LimitsDescription } from './limits/choose-limits.ts';
import { LinuxLauncher, type Fences } from './linux/linux.ts';
import { MACOS_NOTES, MacosLauncher } from './macos/macos.ts';
import { BareLauncher } from './none.ts';
import { namespaceFacts, obstacles, type Obstacle } from './linux/obstacles.ts';
import { callFilter } from './linux/seccomp.ts';

export interface Sandbox {
  /** `namespaces`: process trees are held, but nothing is fenced off. */
  kind: SandboxKind;
  launcher: Launcher;
  /** Overlays can be mounted on the file system of the directory asked about. */
  overlay: boolean;
  /** Which limits are held by what; nothing where none is. */
  limits?: LimitsDescription;
  /** What is in the way of fences, and what to do about it; empty where they hold. */
  lacks: Obstacle[];
  /** What is weaker here than it could be, and why; for people. */
  notes: string[];
  /** Fences failed for a reason that no machine is known to have: nothing may be run with less. */
  unexplained?: string;
}

const UNFENCED: Obstacle = { what: 'asked for with --unfenced', remedy: 'leave out --unfenced' };

const chosen = new Map<string, Promise<Sandbox>>();

/**
 * Tries once per process and directory. `directory` exists and is where layers will lie. `unfenced` is a person's wish,
 * never a workflow's: it does without fences that could be had.
 */
export function chooseSandbox(directory: string, unfenced = false): Promise<Sandbox> {
  const key = `${unfenced} ${directory}`;
  let sandbox = chosen.get(key);
  if (sandbox === undefined) {
    sandbox = tryAll(directory, unfenced);
    sandbox.catch(() => chosen.delete(key));
    chosen.set(key, sandbox);
  }
  return sandbox;
}

/** For a directory that goes away: nothing is kept ready for it any more. */
export async function releaseSandbox(directory: string): Promise<void> {
  for (const unfenced of [false, true]) {
    const key = `${unfenced} ${directory}`;
    const sandbox = chosen.get(key);
    chosen.delete(key);
    await sandbox?.then(
      ({ launcher }) => launcher.close?.(),
      () => {},
    );
  }
}

async function tryAll(directory: string, unfenced: boolean): Promise<Sandbox> {
  const lacks: Obstacle[] = [];
  let unexplained: string | undefined;
  const failed = ({ why, isRefusal }: Failure): void => {
    if (!isRefusal && !unfenced) unexplained ??= why;
  };
  const bare = (lack: Obstacle[]): Sandbox => ({
    kind: 'none',
    launcher: new BareLauncher(),
    overlay: false,
    lacks: [...lacks, ...lack],
    notes: ['no namespaces: workspaces are full copies'],
    ...(unexplained !== undefined && { unexplained }),
  });
  if (process.platform === 'darwin' && unfenced) return bare([UNFENCED]);
  if (process.platform === 'darwin') {
    const launcher = new MacosLauncher();
    return { kind: 'macos', launcher, overlay: false, lacks: [ON_MACOS], notes: [...MACOS_NOTES] };
  }
  if (process.platform !== 'linux') return bare([{ what: `${process.platform} has none`, remedy: ON_LINUX }]);
  const notes: string[] = [];
  const sockets = path.join(directory, 's');
  try {
    await mkdir(sockets, { recursive: true });
    const fences = unfenced ? UNFENCED : await findFences(directory);
    if (!('what' in fences)) {
      const launcher = new LinuxLauncher({ fences, sockets });
      const limits = fences.limits.describe();
      const noOverlay = await tryOverlay(launcher, directory, EMPTY_FENCE);
      if (noOverlay === undefined) return { kind: 'fences', launcher, overlay: true, limits, lacks, notes };
      const noFence = await tryLaunch(launcher, { ...NOTHING, emptyCwd: true, fence: EMPTY_FENCE });
      if (noFence === undefined) {
        notes.push(`no overlay: ${noOverlay}; workspaces are full copies`);
        return { kind: 'fences', launcher, overlay: false, limits, lacks, notes };
      }
      launcher.close();
      failed(noFence);
      lacks.push(...inTheWay(noFence));
    } else lacks.push(fences);
    const launcher = new LinuxLauncher({ sockets });
    const failure = await tryLaunch(launcher, NOTHING);
    if (failure !== undefined) {
      failed(failure);
      return bare(lacks.includes(NO_BUBBLEWRAP) ? inTheWay(failure) : []);
    }
    const noOverlay = await tryOverlay(launcher, directory);
    if (noOverlay !== undefined) notes.push(`no overlay: ${noOverlay}; workspaces are full copies`);
    return {
      kind: 'namespaces',
      launcher,
      overlay: noOverlay === undefined,
      lacks,
      notes,
      ...(unexplained !== undefined && { unexplained }),
    };
  } catch (error) {
    const { message } = error as Error;
    failed({ why: message, isRefusal: false });
    return bare([{ what: message, remedy: TRY_AGAIN }]);
  }
}

const TRY_AGAIN = 'fix that, then try again with: bosun doctor';
const ON_LINUX = 'run bosun on Linux; on Windows, in WSL2';
const ON_MACOS: Obstacle = {
  what: 'what macOS offers is untested, and holds no limits and no process that leaves its group',
  remedy: ON_LINUX,
};
const NO_BUBBLEWRAP: Obstacle = {
  what: 'bubblewrap is not installed',
  remedy: 'install the package bubblewrap (apt, dnf, apk, zypper) or pacman -S bubblewrap',
};

/** What is known to forbid namespaces, and what the machine said: it may be something else after all. */
function inTheWay({ why: failure }: Failure): Obstacle[] {
  const [first, ...rest] = obstacles(namespaceFacts());
  if (first === undefined) return [{ what: `namespaces cannot be made (${failure})`, remedy: TRY_AGAIN }];
  return [{ ...first, what: `${first.what} (${failure})` }, ...rest];
}

/** What fences are made of, or what is in the way of them. */
async function findFences(directory: string): Promise<Fences | Obstacle> {
  const bwrap = findProgram('bwrap');
  if (bwrap === undefined) return NO_BUBBLEWRAP;
  const filter = callFilter();
  if (filter === undefined)
    return { what: `there is no filter of system calls for ${process.arch}`, remedy: 'use x64 or arm64' };
  const seccomp = path.join(directory, 'seccomp.bpf');
  // Never half a file: another process may be starting commands with it.
  const fresh = `${seccomp}.${process.pid}`;
  writeFileSync(fresh, filter);
  renameSync(fresh, seccomp);
  return { bwrap, seccomp, etc: prepareEtc(directory), limits: await chooseLimits() };
}

const NOTHING = { argv: ['/bin/sh', '-c', ':'], cwd: '/' };
const EMPTY_FENCE: Fence = {
  write: [''],
  keep: [],
  grantable: [],
  mask: [],
  read: [],
  own: [],
  egress: false,
  limits: {},
};

interface Failure {
  why: string;
  /** The kernel says that namespaces or mounts are not for us: a machine that cannot. Anything else is a surprise. */
  isRefusal: boolean;
}

/**
 * What bwrap and the launcher say where namespaces or mounts are not for us. The reason alone is not enough: a full
 * disk and a file that cannot be read have the same words, and are no reason to go on without fences.
 */
const REFUSAL = new RegExp(
  [
    'no permissions to create',
    '(namespace|unshare|clone|[ug]id.?map|setgroups).*(operation not permitted|permission denied|no space left on device|too many users|function not implemented|invalid argument)',
    'kernel does not support (user )?namespace',
    '(mount|slave|private|pivot_root|umount|loopback|RTM_NEW\\w+|prctl|seccomp|capabilit).*(operation not permitted|function not implemented)',
    // of AppArmor; a bind mount says so also of a path that cannot be searched
    '(make / slave|make .* private|mount (proc|tmpfs|devpts|mqueue|overlay)|pivot_root).*permission denied',
  ].join('|'),
  'i',
);

/** Undefined where it works, else why not. */
async function tryLaunch(launcher: Launcher, launch: Omit<Launch, 'env'>): Promise<Failure | undefined> {
  const running = launcher.launch({ ...launch, env: { PATH: '/usr/bin:/bin' } });
  let output = '';
  running.stdout.resume();
  running.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-500)));
  try {
    const { code, signal } = await running.exited;
    if (code === 0) return undefined;
    return { why: `it ended with ${signal ?? code}: ${output.trim()}`, isRefusal: false };
  } catch (error) {
    const { data, message } = error as BosunError;
    const { why } = (data as { why?: string } | undefined) ?? {};
    return { why: output.trim() || (why ?? message), isRefusal: why !== undefined && REFUSAL.test(why) };
  }
}

async function tryOverlay(launcher: Launcher, directory: string, fence?: Fence): Promise<string | undefined> {
  const root = await mkdtemp(path.join(directory, 'try-'));
  const at = (name: string): string => path.join(root, name);
  try {
    await Promise.all(
      ['lower/old', 'upper', 'work', 'at'].map((name) => mkdir(at(name), { recursive: true })),
    );
    give(launcher.uid, root, ...['lower', 'lower/old', 'upper', 'work', 'at'].map(at));
    const failure = await tryLaunch(launcher, {
      argv: ['/bin/sh', '-c', 'rmdir old && : > new'],
      cwd: at('at'),
      overlay: { lowers: [at('lower')], upper: at('upper'), work: at('work'), at: at('at') },
      ...(fence && { fence }),
    });
    if (failure !== undefined) return failure.why;
    const gone = await lstat(at('upper/old'));
    return gone.isCharacterDevice() ? undefined : 'deletions leave no trace in the layer';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await removeTree(root);
  }
}
