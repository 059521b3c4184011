/** Finds processes by a mark among their arguments, on the whole machine: also those that got away. It ends none. */
import { readdirSync, readFileSync } from 'node:fs';
import { capture } from '../../system/process/process.ts';

const LOOK_MS = 5;

export async function isProcessMarked(mark: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const { stdout } = await capture(['ps', '-axww', '-o', 'command=']);
    return stdout.includes(mark);
  }
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false; // it is gone
    }
  });
}

/** A shell command that stays, with a child which left its session and takes no friendly signal. */
export function holdOn(mark: string): string {
  const stay = `sh -c 'trap "" TERM HUP INT; while :; do sleep 0.2; done' ${mark}`;
  // Some agents run nothing that has a command within a command.
  return `{ command -v setsid && setsid ${stay} || ${stay}; } >/dev/null 2>&1 & ${stay}`;
}

/** A shell command that can be seen for a while: the mark is an argument of the shell in which an agent runs it. */
export function holdFor(mark: string, seconds: number): string {
  // Not a shell of its own: gemini takes that away, and runs what is left.
  return `sleep ${seconds}; : ${mark}`;
}

/** False where it took too long. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}
