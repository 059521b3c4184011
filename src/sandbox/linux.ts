/**
 * Holds a command: behind its fence (bubblewrap), or, for commands of the engine's own, in a mount and a pid
 * namespace. Never falls back to something weaker: what cannot be made is an error.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { BosunError } from '../contract/errors.ts';
import type { Fence } from '../system/fence.ts';
import { asGroup } from '../system/group.ts';
import { start, type Exit, type Launch, type Launcher, type Running } from '../system/process.ts';
import { sandboxUid } from '../system/sandbox-user.ts';
import { bridged } from './bridge.ts';
import { bwrapOptions, DESCRIPTORS, INSIDE } from './bwrap.ts';
import { parentOfAll } from './parent-of-all.ts';
import { FencedTree } from './fenced-tree.ts';
import { canWiden, widen } from './grant.ts';
import type { Limits } from './limits/choose-limits.ts';
import { kernelLimits, prlimitArgv } from './limits/prlimit.ts';
import { FAILED, MARK, nativeLine, UtilLinux, type LaunchPlan } from './lines.ts';
import { outermost } from './machine.ts';
import { shadowsFor } from './shadows.ts';

const WHY_CHARS_MAX = 4096;
/** For bwrap and what comes before it; the command's own goes another way. */
const ENV = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
const NO_SHADOWS = { directories: [], kept: [] };

/** Built from native/launch.c where there is a compiler; without it the same is done by util-linux, more slowly. */
const NATIVE = path.resolve(import.meta.dirname, '../../build/launch');
/** Sandboxes show a few files of it. */
const PACKAGE = path.resolve(import.meta.dirname, '../..');

export interface LinuxOptions {
  /** False does without the native launcher, as where there is no compiler. */
  native?: boolean;
  /** What fences are made of; without it a launch with a fence is an error. */
  fences?: Fences;
}

export interface Fences {
  bwrap: string;
  /** The file with the filter of system calls. */
  seccomp: string;
  limits: Limits;
}

export class LinuxLauncher implements Launcher {
  readonly uid = sandboxUid;
  readonly #native: string | undefined;
  readonly #utilLinux: UtilLinux | undefined;
  readonly #fences: Fences | undefined;

  constructor({ native = true, fences }: LinuxOptions = {}) {
    this.#native = native && existsSync(NATIVE) ? NATIVE : undefined;
    this.#utilLinux = this.#native === undefined ? new UtilLinux() : undefined;
    this.#fences = fences;
  }

  launch(launch: Launch): Running {
    const { fence } = launch;
    if (fence === undefined) return this.#plain(launch);
    if (this.#fences === undefined)
      throw new BosunError('system', `cannot fence ${launch.argv[0]} in: install bubblewrap`);
    return this.#fenced(launch, fence, this.#fences);
  }

  #plain(launch: Launch): Running {
    const { argv, cwd, env, overlay, emptyCwd = false, reads = [] } = launch;
    const line = this.#line({ command: argv, cwd, emptyCwd, overlay, isFence: false }, [
      ...placesOf(launch),
      ...reads,
    ]);
    const child = start(line, { cwd: '/', env, detached: true, input: launch.input });
    return asGroup(child, line, { settle: whyNotStarted(child, launch) });
  }

  #fenced(launch: Launch, fence: Fence, fences: Fences): Running {
    const { argv, cwd, overlay } = launch;
    const limited =
      this.#native === undefined
        ? prlimitArgv(fence.limits)
        : [INSIDE.launch, 'inside', ...kernelLimits(fence.limits), '--'];
    const own = fence.egress ? bridged(argv) : argv;
    const command = [fences.bwrap, '--args', String(DESCRIPTORS.options), '--', ...limited, ...own];
    const line = this.#line({ command, cwd, emptyCwd: false, overlay, isFence: true }, [
      ...placesOf(launch),
      ...fence.read,
      ...fence.own,
      ...(fence.sockets === undefined ? [] : [fence.sockets]),
      PACKAGE,
    ]);
    const filter = openSync(fences.seccomp, 'r');
    let child;
    try {
      const more: [number, 'pipe'] = [filter, 'pipe'];
      child = start(line, { cwd: '/', env: ENV, detached: true, input: launch.input, more });
    } finally {
      closeSync(filter);
    }
    const channel = child.stdio[DESCRIPTORS.options] as unknown as Duplex;
    channel.end(`${bwrapOptions(launch, fence, this.#native).join('\0')}\0`);
    const tree = new FencedTree(child.pid, channel, (initPid, onBreach) =>
      fences.limits.hold({ initPid, limits: fence.limits, disk: diskOf(launch, fence), onBreach }),
    );
    const settle = whyNotStarted(child, launch, tree);
    const running = asGroup(child, line, {
      async settle(exit, killed) {
        const breach = tree.end();
        await settle(exit, killed);
        return breach && { ...exit, breach };
      },
      signal: (signal) => tree.signal(signal),
    });
    if (!canWiden) return running;
    return { ...running, grant: (directories) => this.#grant(tree, cwd, directories) };
  }

  async #grant(tree: FencedTree, workspace: string, directories: string[]): Promise<void> {
    if (tree.init === undefined)
      throw new BosunError('system', 'nothing can be granted: the attempt has ended');
    const { pid: initPid, startTicks } = tree.init;
    await widen({
      initPid,
      startTicks,
      workspace,
      directories,
      ...(this.uid !== undefined && { uid: this.uid }),
    });
  }

  #line(around: Omit<LaunchPlan, 'uid' | 'shadows'>, needed: string[]): string[] {
    const shadows = sandboxUid === undefined ? NO_SHADOWS : shadowsFor(outermost(needed));
    const all = { ...around, uid: sandboxUid, shadows };
    return this.#native === undefined ? this.#utilLinux!.line(all) : nativeLine(this.#native, all);
  }
}

/** Where what is written inside lands outside. */
function diskOf({ overlay, cwd, emptyCwd }: Launch, { own }: Fence): string[] {
  return [...own, ...(overlay ? [overlay.upper] : emptyCwd ? [] : [cwd])];
}

/** What a launch's own directories lie in. */
function placesOf({ overlay, cwd }: Launch): string[] {
  if (overlay === undefined) return [cwd];
  return [parentOfAll([...overlay.lowers, overlay.upper, overlay.work, overlay.at])];
}

/** Throws, after the child's end, where the surroundings could not be made. */
function whyNotStarted(
  { stderr }: ChildProcess,
  { argv, cwd }: Launch,
  tree?: FencedTree,
): (exit: Exit, killed: boolean) => Promise<undefined> {
  let said = '';
  stderr!.on('data', (chunk: Buffer) => {
    if (said.length < WHY_CHARS_MAX) said += chunk.toString('latin1', 0, WHY_CHARS_MAX);
  });
  return async (exit, killed) => {
    if (killed || tree?.hasRun || (exit.code !== FAILED && (tree === undefined || exit.code !== 1))) return;
    if (!stderr!.closed) await new Promise((resolve) => stderr!.once('close', resolve));
    if (tree?.hasRun) return;
    const mark = [MARK, 'bwrap: '].find((mark) => said.startsWith(mark));
    if (mark === undefined) return;
    const why = Buffer.from(said, 'latin1').toString().slice(mark.length).trim();
    throw new BosunError(
      'system',
      `cannot prepare the surroundings of ${argv[0]} in ${cwd}: ${why}; bosun doctor says what this machine lacks`,
      { data: { why } },
    );
  };
}
