/** Runs an attack as a plain child process: no fence at all, so that it shows whether the attack can work. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Breach } from '../../src/system/process/fence.ts';
import type { World } from './world.ts';

export interface Ended {
  /** Null where a signal ended it. */
  code: number | null;
  output: string;
  /** For which it was ended. */
  limit?: Breach['limit'];
}

const TIMEOUT_MS = 8000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const INTERPRETERS: Record<string, string> = { '.sh': 'sh', '.pl': 'perl', '.mjs': process.execPath };

export function commandOf(program: string, world: World): string[] {
  return [INTERPRETERS[path.extname(program)]!, path.join(world.programs, program)];
}

export function runUnfenced(program: string, world: World): Promise<Ended> {
  const env = { ...process.env, ...world.env, HOME: world.env.HOME_DIR! };
  // descriptor 40 was left open by whoever started us: all that Node starts has it too
  return runToEnd(commandOf(program, world), { cwd: world.workspace, env });
}

/** Kept apart from the launcher on trial: waits for the end of a command, in bounded time. */
export async function runToEnd(
  [command, ...args]: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ended> {
  const child = spawn(command!, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: Buffer): void => {
    if ((bytes += chunk.length) <= OUTPUT_BYTES_MAX) chunks.push(chunk);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, output: Buffer.concat(chunks).toString() };
  } finally {
    clearTimeout(timer);
  }
}
