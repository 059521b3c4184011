/**
 * Starts commands on machines that forbid namespaces. It holds nothing back; all it promises is that no
 * process outlives its attempt. It can mount nothing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { asGroup } from '../system/process/group.ts';
import { findProgram, start, type Launch, type Launcher } from '../system/process/process.ts';
import { removeTree } from '../system/files/remove-tree.ts';

/** Every process of a launch carries it in its environment, also one that left the process group. */
const LAUNCH_VARIABLE = 'BOSUN_LAUNCH';
const SWEEPS_MAX = 20;

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
    const running = asGroup(child, argv, {
      async settle() {
        if (pid !== undefined) killGroup(pid);
        await sweep(mark);
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

/** Ends every process that carries the mark, again until none is left: one may fork while we look. */
async function sweep(mark: string): Promise<void> {
  const needle = Buffer.from(mark);
  for (let round = 0; round < SWEEPS_MAX; round += 1) {
    const pids = (await readdir('/proc').catch((): string[] => [])).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(
      pids.map(async (pid) => {
        const environ = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
        if (!environ.includes(needle)) return false;
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          return false;
        }
        return true;
      }),
    );
    if (!found.includes(true)) return;
  }
}
