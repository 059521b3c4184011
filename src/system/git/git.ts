/**
 * The only file that runs git, and never so that it runs what others wrote: no hook, driver, filter or transport
 * that a repository names. Four ways: `git` is free of everybody's configuration; `gitInRepository` reads and sets
 * refs in the user's git directory and can do nothing else; `gitOnFiles` works on the user's files with the user's
 * own configuration, never the repository's; `gitOverNetwork` talks to a remote with the user's own configuration,
 * and is the only one that may. The engine never runs git inside a workspace.
 */
import { remedyFor } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { capture, findProgram, start, type Captured } from '../process/process.ts';
import type { ChildProcess } from 'node:child_process';

export interface Identity {
  name: string;
  email: string;
}

/** Who makes the engine's commits. */
export const IDENTITY: Identity = { name: 'bosun', email: 'bosun@localhost' };

/** Code that a repository could bring along, and prompts, stay out in every case. */
const SAFE = [
  '--no-pager',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'gc.auto=0',
  '-c',
  'maintenance.auto=false',
  '-c',
  'submodule.recurse=false',
];

/**
 * What a repository's configuration cannot undo: no transport at all (a missing object of a partial clone would be
 * fetched by a command that the configuration names), and no object that stands in for another.
 */
const SAFE_VARIABLES = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** What may run in a git directory whose configuration a stranger may have written: none of it runs what that names. */
const READERS = ['rev-parse', 'symbolic-ref', 'update-ref', 'for-each-ref', 'config', 'ls-files'];

/** Of the caller's environment, what says which configuration is the user's and who they are. */
const USER_VARIABLES = /^GIT_(CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|AUTHOR_\w+|COMMITTER_\w+)$/;

/** And how they reach remotes. Nothing that traces: a trace may hold what opens a remote. */
const NETWORK_VARIABLES =
  /^GIT_(CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|ASKPASS|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+)$/;

export interface GitOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string | Buffer;
  signal?: AbortSignal;
  /** In a process group of its own: a Ctrl-C in the terminal does not reach it. */
  detached?: boolean;
  /** Ends with this process, also where that is killed: for what must not go on while the next one is at work. */
  mortal?: boolean;
  /** It is ended once it has printed more; without it, only for what nobody can make long. */
  stdoutBytesMax?: number;
  /** Exit codes that are answers rather than failures; 0 alone unless told. */
  codes?: readonly number[];
}

/** Runs git free of everybody's configuration. */
export function git(args: readonly string[], options: GitOptions = {}): Promise<Captured> {
  return run(args, { ...options, env: { ...engineEnvironment(), ...options.env } });
}

/** Reads and sets refs, and reads settings and the index, in the user's own git directory. */
export function gitInRepository(args: readonly string[], options: GitOptions = {}): Promise<Captured> {
  const verb = verbOf(args);
  if (!READERS.includes(verb)) throw new Error(`git ${verb} must not run in a user's git directory`);
  return run(args, { ...options, env: { ...userEnvironment(), ...options.env } });
}

/** With the user's own configuration; the git directory has to be one of ours, see `openWorkTree`. */
export function gitOnFiles(args: readonly string[], options: GitOptions = {}): Promise<Captured> {
  return run(args, { ...options, env: { ...userEnvironment(), ...options.env } });
}

/**
 * With the user's own configuration, by these transports alone; `--git-dir` has to be one of ours. It runs outside of
 * every repository, whose configuration could name programs. Its exit code is a value.
 */
export async function gitOverNetwork(
  args: readonly string[],
  transports: readonly string[],
  { env, without = [], ...options }: Omit<GitOptions, 'cwd' | 'codes'> & { without?: readonly string[] },
): Promise<Captured> {
  const inherited: Record<string, string> = { ...userEnvironment(NETWORK_VARIABLES), ...env };
  for (const name of without) delete inherited[name];
  const result = await captured(args, {
    ...options,
    cwd: '/',
    env: { ...inherited, GIT_ALLOW_PROTOCOL: transports.join(':') },
  });
  options.signal?.throwIfAborted();
  return result;
}

/** Starts git free of everybody's configuration, to be fed while it runs. */
export function startGit(args: readonly string[]): ChildProcess {
  return start(['git', ...SAFE, ...args], { env: engineEnvironment(), input: null });
}

/** The arguments and environment for git inside a launch, on a git directory that no agent has touched. */
export function gitLaunch(args: readonly string[]): { argv: string[]; env: Record<string, string> } {
  return { argv: ['git', ...SAFE, ...args], env: engineEnvironment() };
}

async function run(args: readonly string[], options: GitOptions): Promise<Captured> {
  const { codes = [0], ...rest } = options;
  const result = await captured(args, rest);
  options.signal?.throwIfAborted();
  if (result.isCut || codes.includes(result.code)) return result;
  const where = options.cwd === undefined ? '' : ` in ${options.cwd}`;
  const data = { code: result.code, stderr: result.stderr.slice(0, 2000) };
  const what = `git ${verbOf(args)} failed${where}: ${gitReason(result.stderr) || `exit code ${result.code}`}`;
  const remedy = remedyFor(new BosunError('system', what, { data }));
  throw new BosunError('system', remedy === undefined ? what : `${what}; ${remedy}`, { data });
}

function captured(
  args: readonly string[],
  { mortal, ...options }: Omit<GitOptions, 'codes'>,
): Promise<Captured> {
  return capture([...(mortal ? dyingWithUs() : []), 'git', ...SAFE, ...args], options).catch(
    (cause: unknown) => {
      throw missing(cause);
    },
  );
}

/** Linux alone has it; elsewhere there is nothing like it. */
function dyingWithUs(): string[] {
  const setpriv = findProgram('setpriv');
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
}

function missing(cause: unknown): unknown {
  if (cause instanceof BosunError && (cause.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    return new BosunError(
      'system',
      'git cannot be started: it is not on the PATH, or the directory is gone; install git 2.38 or newer',
      {
        cause,
      },
    );
  }
  return cause;
}

function verbOf(args: readonly string[]): string {
  return (
    args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c' && args[index - 1] !== '-C') ??
    ''
  );
}

/** Of what git wrote, the lines that say why; advice is dropped. */
export function gitReason(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'));
  return lines
    .slice(0, 6)
    .join('; ')
    .replace(/^fatal: /, '');
}

function engineEnvironment(): Record<string, string> {
  return {
    ...withoutGit(),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    ...signedBy(IDENTITY),
  };
}

/** The variables that make somebody the author of a commit. */
export function signedBy({ name, email }: Identity): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

function userEnvironment(variables = USER_VARIABLES): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => variables.test(entry[0]) && entry[1] !== undefined,
  );
  return { ...withoutGit(), ...Object.fromEntries(own) };
}

function withoutGit(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => !entry[0].startsWith('GIT_') && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...SAFE_VARIABLES };
}

/** Splits the output of a `-z` option. */
export function splitNul(output: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let to = output.indexOf(0); to !== -1; to = output.indexOf(0, from)) {
    parts.push(output.subarray(from, to));
    from = to + 1;
  }
  if (from < output.length) parts.push(output.subarray(from));
  return parts;
}

/** A name as git's own files and streams take it, whatever bytes it holds. */
export function cQuote(name: Buffer): Buffer {
  const out: number[] = [0x22];
  for (const byte of name) {
    if (byte === 0x22 || byte === 0x5c) out.push(0x5c, byte);
    else if (byte < 0x20 || byte === 0x7f) out.push(...Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`));
    else out.push(byte);
  }
  out.push(0x22);
  return Buffer.from(out);
}
