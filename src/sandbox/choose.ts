/** Finds out, by trying, what this machine can hold a command with. Never claims what it did not see work. */
import { lstat, mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { BosunError } from '../contract/errors.ts';
import type { Launcher } from '../system/process.ts';
import { removeTree } from '../system/remove-tree.ts';
import { LinuxLauncher } from './linux.ts';
import { BareLauncher } from './none.ts';

export interface Sandbox {
  kind: 'namespaces' | 'none';
  launcher: Launcher;
  /** Overlays can be mounted on the file system of the directory asked about. */
  overlay: boolean;
  /** What is weaker here than it could be, and why; for people. */
  notes: string[];
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
    notes: [`no namespaces: ${why}; commands run unfenced, workspaces are full copies`],
  });
  if (process.platform !== 'linux') return bare(`${process.platform} has none`);
  let launcher: Launcher;
  try {
    launcher = new LinuxLauncher();
    const failure = await tryLaunch(launcher);
    if (failure !== undefined) return bare(failure);
  } catch (error) {
    return bare((error as Error).message);
  }
  const failure = await tryOverlay(launcher, directory);
  const notes = failure === undefined ? [] : [`no overlay: ${failure}; workspaces are full copies`];
  return { kind: 'namespaces', launcher, overlay: failure === undefined, notes };
}

/** Undefined where it works, else why not. */
async function tryLaunch(
  launcher: Launcher,
  launch: Omit<Parameters<Launcher['launch']>[0], 'env'> = { argv: ['/bin/sh', '-c', ':'], cwd: '/' },
): Promise<string | undefined> {
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

async function tryOverlay(launcher: Launcher, directory: string): Promise<string | undefined> {
  const root = await mkdtemp(path.join(directory, 'try-'));
  const at = (name: string): string => path.join(root, name);
  try {
    await Promise.all(
      ['lower/old', 'upper', 'work', 'at'].map((name) => mkdir(at(name), { recursive: true })),
    );
    const failure = await tryLaunch(launcher, {
      argv: ['/bin/sh', '-c', 'rmdir old && : > new'],
      cwd: at('at'),
      overlay: { lowers: [at('lower')], upper: at('upper'), work: at('work'), at: at('at') },
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
