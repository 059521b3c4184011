/** The only file that starts processes. It knows nothing of tasks; it never uses a shell of its own accord. */
import { spawn, type ChildProcess, type SpawnOptions as NodeSpawnOptions } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Breach, Fence } from './fence.ts';

/** An overlay to mount before the command starts; all paths are absolute. */
export interface OverlayMount {
  /** Read-only directories, the topmost first. */
  lowers: string[];
  upper: string;
  /** Must be new and empty for each mount, on the file system of `upper`. */
  work: string;
  /** Where the command sees the merged tree. */
  at: string;
}

/** What to start, and in what surroundings; a sandbox turns it into a process. */
export interface Launch {
  argv: string[];
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  overlay?: OverlayMount;
  /** What the command reads from its stdin; nothing where it is not given. */
  input?: string;
  /** Leaves its stdin open after `input`, for `Running.stdin`. */
  talks?: boolean;
  /** Makes `cwd` an empty directory of the command's own, gone with it. */
  emptyCwd?: boolean;
  /** Paths that a command of the engine's own reads, besides its directory and its overlay. */
  reads?: string[];
  /** What the command may see, write, reach and use; without it the command is one of the engine's own. */
  fence?: Fence;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The limit for which it was ended. */
  breach?: Breach;
}

/** A process tree that was started; it is gone as a whole when `exited` resolves. */
export interface Running {
  /** 0 until it is started, and where nothing could be; `exited` then says why. */
  readonly pid: number;
  /** Of a launch that talks. */
  stdin?: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Rejects with a BosunError where the surroundings could not be made, so that the command never ran. */
  exited: Promise<Exit>;
  /** Asks: the command and those of its children that share its process group get the signal. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the whole tree, whatever it does about signals. */
  kill(): void;
  /** Does something while no process of the tree does anything, until `signal` aborts; absent where that cannot be had. */
  still?<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Opens directories of the workspace, relative to it, for writing by the running tree; absent where that cannot be done. */
  grant?(directories: string[]): Promise<void>;
  /** Leads connections of a unix socket to a port of the tree's own loopback; absent where it has none, or that cannot be done. */
  relay?(port: number, socketPath: string): Promise<Relay>;
}

/** A way to a port of a running tree; with its disposal it is gone, and the socket too. */
export interface Relay extends AsyncDisposable {
  /** Resolves when it takes no connections any more, whatever the reason. */
  readonly ended: Promise<void>;
  /** Whether a program of the tree listens on the port now. */
  isListening(): Promise<boolean>;
}

/** What is looked at of a child, however it was started. */
export interface StartedProcess {
  readonly pid?: number | undefined;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** It ended because who started it for us died. */
  readonly diedWithHelper?: boolean;
  once(event: 'spawn', listener: () => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
  once(
    event: 'exit' | 'close',
    listener: (code: number | null, signal: NodeJS.Signals | null) => void,
  ): unknown;
}

/** Starts something inside whatever this machine has to hold it. */
export interface Launcher {
  /** Who its commands run as, where that is not the engine's own user; the group has the same number. */
  readonly uid?: number | undefined;
  /** Where commands behind a fence find their workspace, where it can be shown at another path than its own. */
  readonly workspaceAt?: string | undefined;
  launch(what: Launch): Running;
  /** Makes the surroundings now, for a command that comes later; absent where that cannot be done. */
  readonly prepare?: ((surroundings: Surrounding) => Prepared) | undefined;
  /** Ends what it keeps ready for later commands; another command makes it again. */
  close?(): void;
}

/** What is known of a launch before its command is. */
export type Surrounding = Omit<Launch, 'argv' | 'env' | 'input' | 'talks'>;

/** A sandbox that waits for its command; it takes one, and is never used again. */
export interface Prepared {
  start(command: Pick<Launch, 'argv' | 'env' | 'input' | 'talks'>): Running;
  /** Ends it where it was not needed. */
  discard(): Promise<void>;
}

export interface Captured {
  code: number;
  stdout: Buffer;
  stderr: string;
  /** It printed more than was wanted, and was ended for it. */
  isCut?: true;
}

interface SpawnOptions {
  cwd?: string;
  env?: Record<string, string>;
  detached?: boolean;
  /** What the child reads from its stdin; null to write it later, nothing where it is not given. */
  input?: string | Buffer | null | undefined;
  /** Descriptors 3 and up. */
  more?: (number | 'pipe')[];
}

export function start(argv: string[], options: SpawnOptions = {}): ChildProcess {
  const [command, ...args] = argv;
  if (command === undefined) throw new TypeError('nothing to start');
  const { input, more = [], ...rest } = options;
  const child = spawned(command, args, {
    ...rest,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...more],
  });
  child.stdin?.on('error', () => {}); // a command may end without reading its input
  if (input !== null) child.stdin?.end(input);
  return child;
}

/** A process that outlives this one, in a session of its own. */
export interface Independent {
  /** Its descriptor 3, and its stderr: gone for it once we are. */
  told: Readable;
  said: Readable;
  exited: Promise<number>;
  /** From now on it is on its own. */
  leave(): void;
}

/** `input` is what it reads from its stdin. */
export function startInOwnSession(
  argv: readonly string[],
  { input, ...options }: { env: NodeJS.ProcessEnv; cwd?: string; input?: string },
): Independent {
  const [command, ...args] = argv as [string, ...string[]];
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawned(command, args, {
    ...options,
    detached: true,
    stdio: [stdin, 'ignore', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {}); // it may end without reading it
  child.stdin?.end(input);
  const told = child.stdio[3] as Readable;
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', (cause) => reject(unstarted(command, cause)));
    child.once('close', (code) => resolve(code ?? 1)); // not its exit: its last words may still be on their way
  });
  exited.catch(() => {});
  return {
    told,
    said: child.stderr!,
    exited,
    leave() {
      for (const stream of [told, child.stderr!]) stream.destroy();
      child.unref();
    },
  };
}

export const TOO_LONG = 'an argument or a variable is longer than 128 KB, pass it in a file';

function spawned(command: string, args: string[], options: NodeSpawnOptions): ChildProcess {
  try {
    return spawn(command, args, options);
  } catch (cause) {
    const { code, syscall, message } = cause as NodeJS.ErrnoException;
    if (syscall === undefined) throw cause;
    if (code === 'E2BIG')
      throw new BosunError('system', `cannot start ${command}: ${message}; ${TOO_LONG}`, { cause });
    throw unstarted(command, cause as Error);
  }
}

function unstarted(command: string, cause: Error): BosunError {
  const what = `cannot start ${command}`;
  return machineError(cause, what) ?? new BosunError('system', `${what}: ${cause.message}`, { cause });
}

/** Whether a child that stays keeps our own process from ending: only while something is asked of it. */
export function keepAwake(child: ChildProcess, isAwake: boolean): void {
  for (const part of [child, ...(child.stdio as unknown as (Socket | null)[])]) {
    if (isAwake) part?.ref();
    else part?.unref();
  }
}

const STDERR_BYTES_MAX = 64 * 1024;

/** Runs a command of our own to its end. Its failure to start is an error, its exit code is a value. */
export async function capture(
  argv: string[],
  options: SpawnOptions & { signal?: AbortSignal; stdoutBytesMax?: number } = {},
): Promise<Captured> {
  const { signal, stdoutBytesMax = Infinity, ...spawnOptions } = options;
  const child = start(argv, spawnOptions);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let [stdoutBytes, stderrBytes] = [0, 0];
  child.stdout!.on('data', (chunk: Buffer) => {
    if ((stdoutBytes += chunk.length) <= stdoutBytesMax) stdout.push(chunk);
    else stop();
  });
  child.stderr!.on('data', (chunk: Buffer) => {
    if ((stderrBytes += chunk.length) <= STDERR_BYTES_MAX) stderr.push(chunk);
  });
  const stop = (): void => void (options.detached ? endGroup(child) : child.kill('SIGKILL'));
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const exit = await processExit(child, argv);
    return {
      code: exit.code ?? 128,
      stdout: Buffer.concat(stdout),
      stderr: Buffer.concat(stderr).toString(),
      ...(stdoutBytes > stdoutBytesMax && { isCut: true }),
    };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Of a child that is detached and was not yet waited for: with all that it has started in its group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

/** Resolves once the process has ended and its output is read. */
export function processExit(child: StartedProcess, argv: string[]): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(unstarted(argv[0]!, cause)));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Where a program lies: on the PATH, or where systems keep it when the PATH is bare. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  for (const directory of directories) {
    if (!path.isAbsolute(directory)) continue;
    const file = path.join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return undefined;
}
