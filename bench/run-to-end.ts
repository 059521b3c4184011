/** Runs a launch through a launcher to its end, as a bench needs it: any failure is an error. */
import type { Launch, Launcher } from '../src/system/process/process.ts';

export async function runToEnd(launcher: Launcher, what: Launch): Promise<void> {
  const running = launcher.launch(what);
  const said: Buffer[] = [];
  running.stdout.resume();
  running.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const { code, signal } = await running.exited;
  if (code !== 0)
    throw new Error(`${what.argv[0]} ended with ${code ?? signal}: ${Buffer.concat(said).toString()}`);
}
