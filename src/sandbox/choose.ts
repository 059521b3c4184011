/** Finds out, by trying, what this machine can hold a command with. Never claims what it did not see work. */
import { writeFileSync } from 'node:fs';
import { lstat, mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { BosunError } from '../contract/errors.ts';
import type { Fence } from '../system/fence.ts';
import { findProgram, type Launch, type Launcher } from '../system/process.ts';
import { removeTree } from '../system/remove-tree.ts';
import { give } from '../system/sandbox-user.ts';
import { chooseLimits, type LimitsDescription } from './limits/choose-limits.ts';
import { LinuxLauncher, type Fences } from './linux.ts';
import { MACOS_NOTES, MacosLauncher } from './macos.ts';
import { BareLauncher } from './none.ts';
import { callFilter } from './seccomp.ts';

export interface Sandbox {
  /** `namespaces`: process trees are held, but nothing is fenced off. */
  kind: 'fences' | 'macos' | 'namespaces' | 'none';
  launcher: Launcher;
  /** Overlays can be mounted on the file system of the directory asked about. */
  overlay: boolean;
  /** Which limits are held by what; nothing where none is. */
  limits?: LimitsDescription;
  /** What is weaker here than it could be, and why; for people. */
  notes: string[];
}

export function isFenced({ kind }: Sandbox): boolean {
  return kind === 'fences' || kind === 'macos';
}

const chosen = new Map<string, Promise<Sandbox>>();

/** Tries once per process and directory. `directory` exists and is where layers will lie. */
export function chooseSandbox(directory: string): Promise<Sandbox> {
  let sandbox = chosen.get(directory);
  if (sandbox === undefined) {
    sandbox = tryAll(directory);
    sandbox.catch(() => chosen.delete(directory));
    chosen.set(directory, sandbox);
  }
  return sandbox;
}

async function tryAll(directory: string): Promise<Sandbox> {
  const bare = (why: string): Sandbox => ({
    kind: 'none',
    launcher: new BareLauncher(),
    overlay: false,
    notes: [`NO FENCES: ${why}; commands can read and write all that you can, workspaces are full copies`],
  });
  if (process.platform === 'darwin')
    return { kind: 'macos', launcher: new MacosLauncher(), overlay: false, notes: [...MACOS_NOTES] };
  if (process.platform !== 'linux') return bare(`${process.platform} has none`);
  const notes: string[] = [];
  try {
    const fences = await findFences(directory);
    if (typeof fences !== 'string') {
      const launcher = new LinuxLauncher({ fences });
      const limits = fences.limits.describe();
      const noOverlay = await tryOverlay(launcher, directory, EMPTY_FENCE);
      if (noOverlay === undefined) return { kind: 'fences', launcher, overlay: true, limits, notes };
      const noFence = await tryLaunch(launcher, { ...NOTHING, emptyCwd: true, fence: EMPTY_FENCE });
      if (noFence === undefined) {
        notes.push(`no overlay: ${noOverlay}; workspaces are full copies`);
        return { kind: 'fences', launcher, overlay: false, limits, notes };
      }
      notes.push(unfenced(noFence));
    } else notes.push(unfenced(fences));
    const launcher = new LinuxLauncher();
    const failure = await tryLaunch(launcher, NOTHING);
    if (failure !== undefined) return bare(failure);
    const noOverlay = await tryOverlay(launcher, directory);
    if (noOverlay !== undefined) notes.push(`no overlay: ${noOverlay}; workspaces are full copies`);
    return { kind: 'namespaces', launcher, overlay: noOverlay === undefined, notes };
  } catch (error) {
    return bare((error as Error).message);
  }
}

function unfenced(why: string): string {
  return `NO FENCES: ${why}; commands can read and write all that you can`;
}

/** What fences are made of, or why there are none. */
async function findFences(directory: string): Promise<Fences | string> {
  const bwrap = findProgram('bwrap');
  if (bwrap === undefined) return 'bubblewrap is not installed';
  const filter = callFilter();
  if (filter === undefined) return `there is no filter of system calls for ${process.arch}`;
  const seccomp = path.join(directory, 'seccomp.bpf');
  writeFileSync(seccomp, filter);
  return { bwrap, seccomp, limits: await chooseLimits() };
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

/** Undefined where it works, else why not. */
async function tryLaunch(launcher: Launcher, launch: Omit<Launch, 'env'>): Promise<string | undefined> {
  const running = launcher.launch({ ...launch, env: { PATH: '/usr/bin:/bin' } });
  let output = '';
  running.stdout.resume();
  running.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-500)));
  try {
    const { code, signal } = await running.exited;
    return code === 0 ? undefined : `it ended with ${signal ?? code}: ${output.trim()}`;
  } catch (error) {
    const { data, message } = error as BosunError;
    return output.trim() || ((data as { why?: string } | undefined)?.why ?? message);
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
    if (failure !== undefined) return failure;
    const gone = await lstat(at('upper/old'));
    return gone.isCharacterDevice() ? undefined : 'deletions leave no trace in the layer';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await removeTree(root);
  }
}
