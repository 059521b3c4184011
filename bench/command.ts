/** Runs the commands that benches measure or need. It knows nothing of bosun. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

interface Options {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
}

/** Runs a command to its end and returns what it printed; any failure is an error. */
export function run(argv: readonly string[], options: Options = {}): Promise<string> {
  const { input, ...rest } = options;
  const [command, ...args] = argv as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...rest, stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => {}); // it need not read to the end
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(stdout).toString());
      const said = Buffer.concat(stderr).toString().trim().slice(-2000);
      reject(new Error(`${argv.join(' ').slice(0, 200)} ended with ${code ?? signal}: ${said}`));
    });
  });
}

interface SpawnOptions extends Omit<Options, 'input'> {
  pipes?: boolean;
  /** The descriptor that the command reads from; nothing where it is not given. */
  stdin?: number;
  /** Descriptors 3 and up. */
  more?: number[];
}

/**
 * Runs a command to its end and returns how long that took. Without pipes it is the least that a caller can pay;
 * with them the command is started as one whose output is wanted, in a process group of its own.
 */
export function spawnMs(
  argv: readonly string[],
  { pipes = false, stdin, more = [], ...options }: SpawnOptions = {},
): Promise<number> {
  const [command, ...args] = argv as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const out = pipes ? 'pipe' : 'ignore';
    const child = spawn(command, args, {
      ...options,
      stdio: [stdin ?? 'ignore', out, out, ...more],
      detached: pipes,
    });
    let said = '';
    child.stdout?.resume();
    child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-500)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`${argv.join(' ').slice(0, 200)} ended with ${code ?? signal}: ${said}`));
    });
  });
}

/** Runs `work` for 0…count-1, at most `concurrency` at a time. */
export async function bounded(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, lane));
}

/** One of the programs here, in a process of its own: it is ready when it has printed a line, and ends with its stdin. */
export async function startProgram(
  file: string,
  ...args: string[]
): Promise<{ said: string; pid: number; end(): Promise<void> }> {
  const program = path.join(import.meta.dirname, file);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it was ready`))),
  ]);
  const exited = once(child, 'exit');
  return {
    said,
    pid: child.pid!,
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}
