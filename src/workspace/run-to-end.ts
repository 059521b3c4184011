/** Runs a command of the engine's in a launch and says, when it fails, what it printed last. */
import { BosunError } from '../contract/errors.ts';
import type { Launch, Launcher } from '../system/process/process.ts';
import type { Setup } from './workspace.ts';

const TAIL_BYTES_MAX = 4096;

export async function runToEnd(
  launcher: Launcher,
  launch: Launch,
  purpose: string,
  { onOutput, signal }: Pick<Setup, 'onOutput' | 'signal'> = {},
): Promise<void> {
  signal?.throwIfAborted();
  const running = launcher.launch(launch);
  let tail = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES_MAX);
    onOutput?.(chunk);
  };
  running.stdout.on('data', take);
  running.stderr.on('data', take);
  const stop = (): void => running.kill();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const { code, signal: by, breach } = await running.exited;
    signal?.throwIfAborted();
    if (code === 0) return;
    const said = tail.toString().trim();
    const why = breach ? `it ${breach.message}` : `it ended with ${by ?? `exit code ${code}`}`;
    throw new BosunError('system', `cannot ${purpose}: ${why}${said === '' ? '' : `\n${said}`}`);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
