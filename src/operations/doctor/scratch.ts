/** A small workspace to try fences on, in a directory of its own, and how commands are started there. Gone after use. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { releaseSandbox, type Sandbox } from '../../sandbox/choose.ts';
import { toolchains } from '../../sandbox/machine/toolchains.ts';
import type { Fence, FenceLimits } from '../../system/process/fence.ts';
import type { Exit, Running } from '../../system/process/process.ts';
import { removeTree } from '../../system/files/remove-tree.ts';
import { give } from '../../system/process/sandbox-user.ts';

const OUTPUT_CHARS_MAX = 10_000;
const RUN_MS_MAX = 5000;

/** What a workspace has in it: open may be written, the rest may not, later may be granted. */
const FILES = ['open/file', 'closed/file', 'later/file', 'hidden/key'];

export interface ScratchEnd {
  exit: Exit;
  stdout: string;
  stderr: string;
}

export class Scratch implements AsyncDisposable {
  readonly directory: string;
  readonly #sandbox: Sandbox;
  #count = 0;

  constructor(directory: string, sandbox: Sandbox) {
    this.directory = directory;
    this.#sandbox = sandbox;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await releaseSandbox(this.directory);
    await removeTree(this.directory);
  }

  /** Behind a fence where there are any; in a workspace of its own each time. */
  async launch(argv: string[], limits: FenceLimits = {}): Promise<Running> {
    const { launcher, kind, overlay: hasOverlay } = this.#sandbox;
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
    const at = await mkdtemp(path.join(this.directory, `w${(this.#count += 1)}-`));
    const directories = ['lower', 'upper', 'work', 'at'].map((name) => path.join(at, name));
    const [lower, upper, work, cwd] = directories as [string, string, string, string];
    for (const directory of directories) await mkdir(directory);
    give(launcher.uid, at, ...directories);
    await this.#fill(hasOverlay ? lower : cwd);
    const fence: Fence = {
      write: ['open'],
      keep: [],
      grantable: ['later'],
      mask: ['hidden/'],
      read: [...toolchains(path.dirname(process.execPath)).paths, process.execPath],
      own: [],
      egress: false,
      limits,
    };
    return launcher.launch({
      argv,
      cwd,
      env,
      ...(hasOverlay && { overlay: { lowers: [lower], upper, work, at: cwd } }),
      ...(kind === 'fences' && { fence }),
    });
  }

  async #fill(directory: string): Promise<void> {
    const { uid } = this.#sandbox.launcher;
    for (const file of FILES) {
      const full = path.join(directory, file);
      await mkdir(path.dirname(full));
      await writeFile(full, 'untouched\n');
      give(uid, path.dirname(full), full);
    }
  }
}

/** To its end, and no longer than that should take. */
export async function ended(running: Running): Promise<ScratchEnd> {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    running[name].on('data', (chunk: Buffer) => {
      said[name] = (said[name] + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    });
  const timer = setTimeout(() => running.kill(), RUN_MS_MAX);
  try {
    const exit = await running.exited;
    return { exit, ...said };
  } catch (error) {
    return { exit: { code: null, signal: null }, ...said, stderr: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}
