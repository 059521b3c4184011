/** Runs an attack inside the fence that is on trial: the one that attempts get. */
import path from 'node:path';
import { OutputSink } from '../../src/runtime/output/output.ts';
import { chooseSandbox } from '../../src/sandbox/choose.ts';
import { chooseLimits } from '../../src/sandbox/limits/choose-limits.ts';
import { prepareEtc } from '../../src/sandbox/linux/etc.ts';
import { LinuxLauncher } from '../../src/sandbox/linux/linux.ts';
import { findProgram, type Launcher } from '../../src/system/process/process.ts';
import { OUTPUT_KEPT_BYTES_MAX } from './attacks.ts';
import { commandOf, type Ended } from './unfenced.ts';
import type { World } from './world.ts';

const TIMEOUT_MS = 8000;

/** With our native launcher, as the engine chooses it, and without, as where there is no compiler. */
export async function makeLaunchers(directory: string): Promise<{ native: Launcher; utilLinux: Launcher }> {
  const { kind, launcher, notes } = await chooseSandbox(directory);
  if (kind !== 'fences') throw new Error(`nothing can be tried here: ${notes.join('; ')}`);
  const fences = {
    bwrap: findProgram('bwrap')!,
    seccomp: path.join(directory, 'seccomp.bpf'),
    etc: prepareEtc(directory),
    limits: await chooseLimits(),
  };
  return { native: launcher, utilLinux: new LinuxLauncher({ native: false, fences }) };
}

export async function runFenced(program: string, world: World, launcher: Launcher): Promise<Ended> {
  const { workspace, env, fence } = world;
  const running = launcher.launch({ argv: commandOf(program, world), cwd: workspace, env, fence });
  const pieces: string[] = [];
  const sink = new OutputSink(
    (piece) => pieces.push(piece.text ?? piece.base64 ?? ''),
    OUTPUT_KEPT_BYTES_MAX,
  );
  const timer = setTimeout(() => running.kill(), TIMEOUT_MS);
  try {
    await Promise.all([sink.read(running.stdout, 'stdout'), sink.read(running.stderr, 'stderr')]);
    const { code, breach } = await running.exited;
    return { code, output: pieces.join(''), ...(breach && { limit: breach.limit }) };
  } catch (error) {
    return { code: null, output: `never ran: ${(error as Error).message}` };
  } finally {
    clearTimeout(timer);
  }
}
