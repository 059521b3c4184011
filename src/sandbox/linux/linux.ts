/**
 * Holds a command: behind its fence (bubblewrap), or, for commands of the engine's own, in a mount and a pid
 * namespace. Never falls back to something weaker: what cannot be made is an error.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { PACKAGE } from '../../base/package-directory.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Fence } from '../../system/process/fence.ts';
import { asGroup } from '../../system/process/group.ts';
import {
  start,
  type StartedProcess,
  type Launch,
  type Launcher,
  type Prepared,
  type Relay,
  type Running,
  type Surrounding,
} from '../../system/process/process.ts';
import { Spawner } from '../../system/process/spawner.ts';
import { sandboxUid } from '../../system/process/sandbox-user.ts';
import { bwrapOptions, DESCRIPTORS, IN_MEMORY, INSIDE } from './bwrap.ts';
import { directoryOfAll } from './directory-of-all.ts';
import { FencedTree } from './fenced-tree.ts';
import { commandMessage, insideArgv, insideEnvironment } from './command-message.ts';
import { canWiden, widen } from './grant.ts';
import { canRelay, openRelay } from './relay.ts';
import { killSandbox, whyNotStarted } from './kill-and-explain.ts';
import type { SandboxLimits } from '../limits/choose-limits.ts';
import { kernelLimits, prlimitArgv } from '../limits/prlimit.ts';
import { nativeWords, UtilLinux, type LaunchPlan } from './launch-lines.ts';
import { closedDirectoriesFor } from './closed-directories.ts';

/** For bwrap and what comes before it; the command's own goes another way. */
const ENV = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };

/** Built from native/launch.c where there is a compiler; without it the same is done by util-linux, more slowly. */
const NATIVE = path.resolve(import.meta.dirname, '../../../build/launch');
/** Sandboxes show a few files of it. */

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
  limits: SandboxLimits;
}

/** A command, or what waits for one. */
interface Held {
  stdin: Writable | null;
  running: Running;
  /** It has its command now. */
  start(): Running;
}

type Fenced = Surrounding & { fence: Fence };

export class LinuxLauncher implements Launcher {
  /** Without fences commands may do what the engine's user may, so they are he. */
  readonly uid: number | undefined;
  readonly workspaceAt: string | undefined;
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
    this.workspaceAt = fences && INSIDE.workspace;
  }

  close(): void {
    this.#spawner?.close();
  }

  launch(launch: Launch): Running {
    const { fence, env, argv, talks = false } = launch;
    if (this.prepare !== undefined) return this.prepare(launch).start(launch);
    const input = talks ? null : launch.input;
    const held =
      fence === undefined
        ? this.#plain(launch, argv, env, input)
        : this.#fenced(
            { ...launch, fence },
            [...prlimitArgv(fence.limits), ...insideArgv(argv, fence)],
            insideEnvironment(env, fence),
            input,
          );
    if (talks) held.stdin!.write(launch.input ?? '');
    return talking(held, talks);
  }

  /** Only the native launcher can wait inside for a command. */
  get prepare(): ((surroundings: Surrounding) => Prepared) | undefined {
    const native = this.#native;
    if (native === undefined) return undefined;
    return (surroundings) => {
      const { fence } = surroundings;
      const held =
        fence === undefined
          ? this.#plain(surroundings, [native, 'wait'], {}, null)
          : this.#fenced(
              { ...surroundings, fence },
              [INSIDE.launch, 'inside', ...kernelLimits(fence.limits)],
              {},
              null,
            );
      return {
        start: ({ argv, env, input, talks = false }) => {
          const words = fence ? insideArgv(argv, fence) : argv;
          try {
            const hasInput = talks || input !== undefined;
            const message = commandMessage(words, fence ? insideEnvironment(env, fence) : env, hasInput);
            held.stdin!.write(Buffer.concat([message, Buffer.from(input ?? '')]));
            if (!talks) held.stdin!.end();
          } catch (error) {
            held.running.kill(); // nobody else can give it a command
            throw error;
          }
          return talking(held, talks);
        },
        async discard() {
          held.running.kill();
          await held.running.exited.catch(() => {});
        },
      };
    };
  }

  #plain(
    surroundings: Surrounding,
    command: string[],
    env: Record<string, string>,
    input: string | null | undefined,
  ): Held {
    const { cwd, overlay, emptyCwd = false, reads = [] } = surroundings;
    const plan = this.#plan({ command, cwd, emptyCwd, overlay, isFence: false }, [
      ...placesOf(surroundings),
      ...reads,
    ]);
    const child: StartedProcess & { stdin: Writable | null } =
      this.#spawner?.start({ argv: nativeWords(plan), env, input }) ??
      start(this.#utilLinux!.line(plan), { cwd: '/', env, detached: true, input });
    const running = asGroup(child, command, {
      settle: whyNotStarted(child, cwd),
      kill: () => killSandbox(child.pid),
    });
    return { stdin: child.stdin, running, start: () => running };
  }

  #fenced(
    surroundings: Fenced,
    argv: string[],
    env: Record<string, string>,
    input: string | null | undefined,
  ): Held {
    if (this.#fences === undefined) throw new BosunError('system', 'there are no fences: install bubblewrap');
    const { bwrap, seccomp, etc, limits } = this.#fences;
    const { cwd, overlay, fence } = surroundings;
    const command = [bwrap, '--args', String(DESCRIPTORS.options), '--', ...argv];
    const around = { command, cwd, emptyCwd: false, overlay, isFence: true, limits: fence.limits };
    const plan = this.#plan(around, [
      ...placesOf(surroundings),
      ...fence.read,
      ...fence.own,
      ...(fence.sockets === undefined ? [] : [fence.sockets]),
      etc,
      PACKAGE,
    ]);
    const options = `${bwrapOptions(surroundings, env, { native: this.#native, etc }).join('\0')}\0`;
    const { child, status } = this.#startFenced(plan, input, { filter: seccomp, options });
    const tree: FencedTree = new FencedTree(
      () => child.pid,
      status,
      (initPid, onBreach) =>
        limits.hold({
          initPid,
          limits: fence.limits,
          disk: diskOf(surroundings),
          inMemory: IN_MEMORY,
          isStill: () => tree.isStill,
          onBreach,
        }),
    );
    const settle = whyNotStarted(child, cwd, tree);
    const running: Running = asGroup(child, command, {
      async settle(exit, killed) {
        // Success has to be the command's own: a sandbox that was never made must not pass for it.
        if (exit.code === 0 && !killed) await tree.drained();
        const breach = tree.end();
        await settle(exit, killed);
        return breach && { ...exit, breach };
      },
      signal: (signal) => tree.signal(signal),
      kill: () => killSandbox(child.pid),
    });
    running.still = (act) => tree.still(act);
    if (canWiden) running.grant = (directories) => this.#grant(tree, fence.at ?? cwd, directories);
    if (canRelay) running.relay = (port, socketPath) => this.#relay(tree, port, socketPath);
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
  ): { child: StartedProcess & { stdin: Writable | null }; status: Readable } {
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

  async #relay(tree: FencedTree, port: number, socketPath: string): Promise<Relay> {
    if (tree.init === undefined)
      throw new BosunError('wrong-state', 'nothing can be served: the attempt has ended');
    const { pid: initPid, startTicks } = tree.init;
    const { uid } = this;
    return openRelay({ initPid, startTicks, port, socketPath, ...(uid !== undefined && { uid }) });
  }

  #plan(around: Omit<LaunchPlan, 'uid' | 'closedDirectories'>, needed: string[]): LaunchPlan {
    const closedDirectories = this.uid === undefined ? [] : closedDirectoriesFor(needed, this.uid);
    return { ...around, uid: this.uid, closedDirectories };
  }
}

/** It has its command; whoever talks to it keeps its stdin. */
function talking(held: Held, talks: boolean): Running {
  const running = held.start();
  if (talks && held.stdin) running.stdin = held.stdin;
  return running;
}

/** Where what is written inside lands outside. */
function diskOf({ overlay, cwd, emptyCwd, fence: { own } }: Fenced): string[] {
  return [...own, ...(overlay ? [overlay.upper] : emptyCwd ? [] : [cwd])];
}

/** What a launch's own directories lie in. */
function placesOf({ overlay, cwd, emptyCwd }: Surrounding): string[] {
  if (overlay === undefined) return emptyCwd ? [] : [cwd];
  return [directoryOfAll([...overlay.lowers, overlay.upper, overlay.work, overlay.at])];
}
