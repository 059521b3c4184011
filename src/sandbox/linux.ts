/**
 * Holds a command: behind its fence (bubblewrap), or, for commands of the engine's own, in a mount and a pid
 * namespace. Never falls back to something weaker: what cannot be made is an error.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { BosunError } from '../contract/errors.ts';
import type { Fence } from '../system/fence.ts';
import { asGroup } from '../system/group.ts';
import {
  start,
  TOO_LONG,
  type Child,
  type Exit,
  type Launch,
  type Launcher,
  type Prepared,
  type Running,
  type Surrounding,
} from '../system/process.ts';
import { Spawner } from '../system/spawner.ts';
import { sandboxUid } from '../system/sandbox-user.ts';
import { bridged, proxyEnvironment } from './bridge.ts';
import { bwrapOptions, DESCRIPTORS, INSIDE } from './bwrap.ts';
import { parentOfAll } from './parent-of-all.ts';
import { FencedTree } from './fenced-tree.ts';
import { onlyChildOf } from './only-child.ts';
import { canWiden, widen } from './grant.ts';
import type { Limits } from './limits/choose-limits.ts';
import { kernelLimits, prlimitArgv } from './limits/prlimit.ts';
import { FAILED, MARK, nativeWords, UtilLinux, type LaunchPlan } from './lines.ts';
import { shadowsFor } from './shadows.ts';

const WHY_CHARS_MAX = 4096;
/** For bwrap and what comes before it; the command's own goes another way. */
const ENV = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
/** What the kernel takes of one argument or variable. */
const WORD_BYTES_MAX = 128 * 1024 - 1;
const NO_SHADOWS = { directories: [], kept: [] };

/** Built from native/launch.c where there is a compiler; without it the same is done by util-linux, more slowly. */
const NATIVE = path.resolve(import.meta.dirname, '../../build/launch');
/** Sandboxes show a few files of it. */
const PACKAGE = path.resolve(import.meta.dirname, '../..');

export interface LinuxOptions {
  /** False does without the native launcher, as where there is no compiler. */
  native?: boolean;
  /** Where a socket of its own may lie. */
  sockets?: string;
  /** What fences are made of; without it a launch with a fence is an error. */
  fences?: Fences;
}

export interface Fences {
  bwrap: string;
  /** The file with the filter of system calls. */
  seccomp: string;
  /** What is shown as /etc. */
  etc: string;
  limits: Limits;
}

export class LinuxLauncher implements Launcher {
  /** Without fences commands may do what the engine's user may, so they are he. */
  readonly uid: number | undefined;
  readonly #native: string | undefined;
  readonly #utilLinux: UtilLinux | undefined;
  readonly #spawner: Spawner | undefined;
  readonly #fences: Fences | undefined;

  constructor({ native = true, fences, sockets = tmpdir() }: LinuxOptions = {}) {
    this.#native = native && existsSync(NATIVE) ? NATIVE : undefined;
    this.#utilLinux = this.#native === undefined ? new UtilLinux() : undefined;
    this.#spawner = this.#native === undefined ? undefined : new Spawner(this.#native, sockets);
    this.#fences = fences;
    this.uid = fences && sandboxUid;
  }

  launch(launch: Launch): Running {
    const { fence } = launch;
    if (fence === undefined) return this.#plain(launch);
    if (this.prepare !== undefined) return this.prepare({ ...launch, fence }).start(launch);
    const env = insideEnvironment(launch.env, fence);
    const argv = [...prlimitArgv(fence.limits), ...insideArgv(launch.argv, fence)];
    return this.#fenced({ ...launch, fence }, argv, env, launch.input).start();
  }

  /** Only the native launcher can wait inside for a command. */
  get prepare(): ((surroundings: Surrounding) => Prepared) | undefined {
    if (this.#native === undefined || this.#fences === undefined) return undefined;
    return (surroundings) => {
      const { fence } = surroundings;
      const inside = [INSIDE.launch, 'inside', ...kernelLimits(fence.limits)];
      const fenced = this.#fenced(surroundings, inside, {}, null);
      return {
        start: ({ argv, env, input }) => {
          const message = commandMessage(insideArgv(argv, fence), insideEnvironment(env, fence), input);
          fenced.stdin!.end(Buffer.concat([message, Buffer.from(input ?? '')]));
          return fenced.start();
        },
        async discard() {
          fenced.running.kill();
          await fenced.running.exited.catch(() => {});
        },
      };
    };
  }

  #plain(launch: Launch): Running {
    const { argv, cwd, env, overlay, emptyCwd = false, reads = [], input } = launch;
    const plan = this.#plan({ command: argv, cwd, emptyCwd, overlay, isFence: false }, [
      ...placesOf(launch),
      ...reads,
    ]);
    const child: Child =
      this.#spawner?.start({ argv: nativeWords(plan), env, input }) ??
      start(this.#utilLinux!.line(plan), { cwd: '/', env, detached: true, input });
    return asGroup(child, argv, { settle: whyNotStarted(child, cwd), kill: () => killHeld(child.pid) });
  }

  #fenced(
    surroundings: Surrounding,
    argv: string[],
    env: Record<string, string>,
    input: string | null | undefined,
  ): { stdin: Writable | null; running: Running; start(): Running } {
    if (this.#fences === undefined) throw new BosunError('system', 'there are no fences: install bubblewrap');
    const { bwrap, seccomp, etc, limits } = this.#fences;
    const { cwd, overlay, fence } = surroundings;
    const command = [bwrap, '--args', String(DESCRIPTORS.options), '--', ...argv];
    const plan = this.#plan({ command, cwd, emptyCwd: false, overlay, isFence: true }, [
      ...placesOf(surroundings),
      ...fence.read,
      ...fence.own,
      ...(fence.sockets === undefined ? [] : [fence.sockets]),
      etc,
      PACKAGE,
    ]);
    const options = `${bwrapOptions(surroundings, env, { native: this.#native, etc }).join('\0')}\0`;
    const { child, status } = this.#startFenced(plan, input, { filter: seccomp, options });
    const tree = new FencedTree(
      () => child.pid,
      status,
      (initPid, onBreach) =>
        limits.hold({ initPid, limits: fence.limits, disk: diskOf(surroundings), onBreach }),
    );
    const settle = whyNotStarted(child, cwd, tree);
    const running: Running = asGroup(child, command, {
      async settle(exit, killed) {
        const breach = tree.end();
        await settle(exit, killed);
        return breach && { ...exit, breach };
      },
      signal: (signal) => tree.signal(signal),
      kill: () => killHeld(child.pid),
    });
    if (canWiden) running.grant = (directories) => this.#grant(tree, cwd, directories);
    return {
      stdin: child.stdin,
      running,
      start() {
        tree.hold();
        return running;
      },
    };
  }

  #startFenced(
    plan: LaunchPlan,
    input: string | null | undefined,
    fence: { filter: string; options: string },
  ): { child: Child & { stdin: Writable | null }; status: Readable } {
    if (this.#spawner !== undefined) {
      const child = this.#spawner.start({ argv: nativeWords(plan), env: ENV, input, fence });
      return { child, status: child.status };
    }
    const filter = openSync(fence.filter, 'r');
    try {
      const more: [number, 'pipe'] = [filter, 'pipe'];
      const line = this.#utilLinux!.line(plan);
      const child = start(line, { cwd: '/', env: ENV, detached: true, input, more });
      const channel = child.stdio[DESCRIPTORS.options] as unknown as Duplex;
      channel.end(fence.options);
      return { child, status: channel };
    } finally {
      closeSync(filter);
    }
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

  #plan(around: Omit<LaunchPlan, 'uid' | 'shadows'>, needed: string[]): LaunchPlan {
    const shadows = this.uid === undefined ? NO_SHADOWS : shadowsFor(needed, this.uid);
    return { ...around, uid: this.uid, shadows };
  }
}

function insideArgv(argv: string[], { egress }: Fence): string[] {
  return egress ? bridged(argv) : argv;
}

function insideEnvironment(env: Record<string, string>, { egress }: Fence): Record<string, string> {
  return { ...env, ...(egress && proxyEnvironment()), HOME: INSIDE.home };
}

/** As native/launch.c reads it. */
function commandMessage(argv: string[], env: Record<string, string>, input: string | undefined): Buffer {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const parts = [input === undefined ? 'nothing' : 'input', String(argv.length), ...argv, ...variables];
  if (parts.some((part) => part.includes('\0')))
    throw new BosunError('system', `cannot start ${argv[0]}: an argument or a variable holds a NUL byte`);
  if (parts.some((part) => Buffer.byteLength(part) > WORD_BYTES_MAX))
    throw new BosunError('system', `cannot start ${argv[0]}: ${TOO_LONG}`);
  const body = Buffer.from(`${parts.join('\0')}\0`);
  return Buffer.concat([Buffer.from(String(body.length).padStart(10, '0')), body]);
}

/** Where what is written inside lands outside. */
function diskOf({ overlay, cwd, emptyCwd, fence: { own } }: Surrounding): string[] {
  return [...own, ...(overlay ? [overlay.upper] : emptyCwd ? [] : [cwd])];
}

/** What a launch's own directories lie in. */
function placesOf({ overlay, cwd, emptyCwd }: Omit<Launch, 'argv' | 'env'>): string[] {
  if (overlay === undefined) return emptyCwd ? [] : [cwd];
  return [parentOfAll([...overlay.lowers, overlay.upper, overlay.work, overlay.at])];
}

/**
 * Ends the first process of the namespace, and all others with it. The launcher stays to bury it: were it ended too,
 * that would be left to the machine's own init, which containers often lack.
 */
function killHeld(launcherPid: number | undefined): boolean {
  const held = launcherPid === undefined ? undefined : onlyChildOf(launcherPid);
  if (held === undefined) return false;
  try {
    process.kill(held, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** Throws, after the child's end, where the surroundings could not be made. */
function whyNotStarted(
  { stderr }: Child,
  cwd: string,
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
      `cannot prepare the surroundings of a command in ${cwd}: ${why}; bosun doctor says what this machine lacks`,
      { data: { why } },
    );
  };
}
