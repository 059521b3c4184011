/** Which program stands behind an agent, where it lies and which version it is. It starts nothing but `--version`. */
import { readFileSync, realpathSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { capture, findProgram } from '../../system/process/process.ts';
import type { Commanded, ProgramRuntime } from '../descriptor.ts';

const VERSION_TIMEOUT_MS = 10_000;

export interface FoundAgent {
  /** What to start; arguments follow. */
  argv: string[];
  /** What must be visible to whoever starts it: the file, or the packages that it is one of. */
  reads: string[];
}

/** The agent's own `command` where it has one, else the program on the PATH; undefined where there is none. */
export function findAgent(
  { program }: Pick<ProgramRuntime, 'program'>,
  agent?: Commanded,
): FoundAgent | undefined {
  const command = agent?.command;
  if (typeof command === 'string')
    return { argv: ['/bin/sh', '-c', `exec ${command} "$@"`, 'sh'], reads: [] };
  return findCommand(command ?? [program.name]);
}

/** A path, or a name that is looked for on the PATH. */
export function findCommand([word, ...words]: string[]): FoundAgent | undefined {
  const file = word!.includes('/') ? path.resolve(word!) : findProgram(word!);
  if (file === undefined) return undefined;
  const real = realOf(file);
  return real === undefined ? undefined : { argv: [real, ...words], reads: [packagesOf(real)] };
}

export function needAgent(runtime: Pick<ProgramRuntime, 'name' | 'program'>, agent?: Commanded): FoundAgent {
  const found = findAgent(runtime, agent);
  if (found) return found;
  const { name, program } = runtime;
  const what =
    agent?.command === undefined ? `${program.name} is not on the PATH` : `${agent.command[0]} is not there`;
  throw new BosunError(
    'system',
    `cannot start ${name}: ${what}; install it with ${program.install}, or name it in \`command\``,
  );
}

/** What its package or it itself says; undefined where neither says anything of use, in time. */
export async function agentVersion(
  { argv }: FoundAgent,
  timeoutMs = VERSION_TIMEOUT_MS,
): Promise<string | undefined> {
  const packaged = packageVersion(argv[0]!);
  if (packaged !== undefined) return packaged; // some take seconds to say the same
  // Some make themselves at home even for that; not in the user's.
  await using home = await mkdtempDisposable(path.join(tmpdir(), 'bosun-'));
  try {
    const { stdout } = await capture([...argv, '--version'], {
      env: {
        PATH: process.env.PATH ?? '/usr/bin:/bin',
        HOME: home.path,
        TMPDIR: path.join(home.path, 'tmp'),
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return /\d+\.\d+\.\d+[\w.-]*/.exec(stdout.toString())?.[0];
  } catch (error) {
    if (error instanceof BosunError) return undefined;
    throw error;
  }
}

/** Of the package that the program is in. */
export function packageVersion(file: string): string | undefined {
  const parts = file.split(path.sep);
  const at = parts.lastIndexOf('node_modules');
  if (at < 0) return undefined;
  const names = parts[at + 1]!.startsWith('@') ? 2 : 1;
  try {
    const text = readFileSync([...parts.slice(0, at + 1 + names), 'package.json'].join(path.sep), 'utf8');
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

export function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Programs from packages load others beside them, so all of the outermost `node_modules` is needed. */
export function packagesOf(file: string): string {
  const parts = file.split(path.sep);
  const at = parts.indexOf('node_modules');
  // What else lies beside a single file is nobody's business: it may be a home.
  return at < 0 ? file : parts.slice(0, at + 1).join(path.sep);
}
