/**
 * Starts commands on machines that forbid namespaces. It holds nothing back; all it promises is that no
 * process outlives its attempt. It can mount nothing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BosunError } from '../contract/errors.ts';
import { asGroup } from '../system/process/group.ts';
import { findProgram, start, type Launch, type Launcher } from '../system/process/process.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { readProcess } from './limits/process-table.ts';

/** Every process of a launch carries it in its environment, also one that left the process group. */
const LAUNCH_VARIABLE = 'BOSUN_LAUNCH';
const SWEEPS_MAX = 50;
const BETWEEN_SWEEPS_MS = 5;

export class BareLauncher implements Launcher {
  readonly #setpriv = process.platform === 'linux' ? findProgram('setpriv') : undefined;

  launch({
    argv,
    cwd: shared,
    env,
    overlay,
    emptyCwd,
    input,
    talks,
  }: Launch): ReturnType<Launcher['launch']> {
    if (overlay)
      throw new BosunError('system', `cannot mount ${overlay.at}: this machine forbids namespaces`);
    const cwd = emptyCwd ? mkdtempSync(path.join(shared, 'of-')) : shared;
    const mark = `${LAUNCH_VARIABLE}=${randomUUID()}`;
    const withParent = this.#setpriv === undefined ? [] : [this.#setpriv, '--pdeathsig', 'KILL', '--'];
    const child = start([...withParent, ...argv], {
      cwd,
      env: { ...env, [LAUNCH_VARIABLE]: mark.slice(LAUNCH_VARIABLE.length + 1) },
      detached: true,
      input: talks ? null : input,
    });
    if (talks) child.stdin!.write(input ?? '');
    const { pid } = child;
    const sinceTicks = (pid === undefined ? undefined : readProcess(pid)?.startTicks) ?? 0;
    const running = asGroup(child, argv, {
      async settle() {
        if (pid !== undefined) killGroup(pid);
        await sweep(mark, sinceTicks);
        if (emptyCwd) await removeTree(cwd);
        return undefined;
      },
    });
    if (talks) running.stdin = child.stdin!;
    return running;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nobody is left in it
  }
}

/**
 * Ends every process that carries the mark, until none is seen twice in a row: one may fork while we look. A program
 * that is just being started shows no environment yet, and is waited for; those that were there before us are not ours.
 */
async function sweep(mark: string, sinceTicks: number): Promise<void> {
  const needle = Buffer.from(mark);
  for (let round = 0, quiet = 0; round < SWEEPS_MAX && quiet < 2; round += 1) {
    const pids = (await readdir('/proc').catch((): string[] => [])).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(pids.map((pid) => endIfMarked(Number(pid), needle, sinceTicks)));
    quiet = found.includes(true) ? 0 : quiet + 1;
    if (quiet < 2) await setTimeout(BETWEEN_SWEEPS_MS);
  }
}

/** Whether it was, or may have been, one of ours. */
async function endIfMarked(pid: number, needle: Buffer, sinceTicks: number): Promise<boolean> {
  const look = (file: string): Promise<Buffer | undefined> =>
    readFile(`/proc/${pid}/${file}`).catch(() => undefined);
  let environ = await look('environ');
  // Once its words are there it is started: what still shows no environment then has none.
  if (environ?.length === 0 && (await look('cmdline'))?.length) {
    environ = await look('environ');
    if (environ?.length === 0) return false;
  }
  if (environ === undefined) return false;
  if (environ.length === 0) {
    const entry = readProcess(pid);
    return entry !== undefined && entry.mappedBytes > 0 && entry.startTicks >= sinceTicks;
  }
  if (!environ.includes(needle)) return false;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
  return true;
}
