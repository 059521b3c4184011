/**
 * What every measured side shares: the step (a real child process), the shapes, and how a timing is handed back.
 * It knows no workflow library.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const CONCURRENCY = 8;

/**
 * What each step starts, which files are its stdin and its descriptors 3 and up, its environment, and whether its
 * output goes through pipes to us; the caller may say.
 */
const {
  argv,
  stdin = '/dev/null',
  files = [],
  env,
  pipes,
} = JSON.parse(process.env.BENCH_STEP ?? '{"argv":["true"],"pipes":false}');
const [command, ...args] = argv.map((part) => (part === '%PARENT%' ? String(process.pid) : part));

let startedCount = 0;

/** One step: starts the command and waits for its end, and that of its output. */
export function step() {
  startedCount += 1;
  return new Promise((resolve, reject) => {
    const out = pipes ? 'pipe' : 'ignore';
    // Anew each time: what is read is read.
    const opened = [stdin, ...files].map((file) => openSync(file, 'r+'));
    const stdio = [opened[0], out, out, ...opened.slice(1)];
    const child = spawn(command, args, { env, stdio, detached: pipes });
    for (const file of opened) closeSync(file);
    child.stdout?.resume();
    child.stderr?.resume();
    child.once('error', reject);
    child.once('close', (code, signal) =>
      code === 0 ? resolve(code) : reject(new Error(`${command} ended with ${code ?? signal}`)),
    );
  });
}

/** Runs `work` for 0…count-1, at most CONCURRENCY at a time. */
export async function bounded(count, work) {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, count) }, lane));
}

/**
 * Times `run(shape, count)` after a small warm-up of the same shape, and prints one JSON line. The shape and
 * count come from the command line; `directory` is fresh and on disk.
 */
export async function measure(prepare) {
  const [shape, count] = [process.argv[2], Number(process.argv[3])];
  if ((shape !== 'chain' && shape !== 'fan-out') || !(count > 0)) {
    throw new Error(`usage: ${process.argv[1]} chain|fan-out COUNT`);
  }
  const directory = mkdtempSync(join(tmpdir(), 'bosun-bench-peer-'));
  try {
    const run = await prepare(directory);
    await run(shape, 10);
    startedCount = 0;
    const wallMs = await run(shape, count);
    if (startedCount !== count) throw new Error(`${startedCount} steps ran, not ${count}`);
    process.stdout.write(`${JSON.stringify({ shape, count, wallMs })}\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(0); // some libraries leave timers and handles behind
}

export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
