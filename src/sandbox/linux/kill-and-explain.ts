/** How a launcher's child is ended, and what its end means. */
import { BosunError, HelperDied } from '../../contract/errors.ts';
import type { StartedProcess, Exit } from '../../system/process/process.ts';
import type { FencedTree } from './fenced-tree.ts';
import { FAILED, MARK } from './launch-lines.ts';
import { childOfLauncher } from './child-of-launcher.ts';

const WHY_CHARS_MAX = 4096;

/**
 * Ends the first process of the namespace, and all others with it. The launcher stays to bury it: were it ended too,
 * that would be left to the machine's own init, which containers often lack.
 */
export function killSandbox(launcherPid: number | undefined): boolean {
  const held = launcherPid === undefined ? undefined : childOfLauncher(launcherPid);
  if (held === undefined) return false;
  try {
    process.kill(held, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** Throws, after the child's end, where the surroundings could not be made. */
export function whyNotStarted(
  child: StartedProcess,
  cwd: string,
  tree?: FencedTree,
): (exit: Exit, killed: boolean) => Promise<undefined> {
  const { stderr } = child;
  let said = '';
  stderr!.on('data', (chunk: Buffer) => {
    if (said.length < WHY_CHARS_MAX) said += chunk.toString('latin1', 0, WHY_CHARS_MAX);
  });
  return async (exit, killed) => {
    if (!killed && child.diedWithHelper) throw new HelperDied('the launcher', 'it took all commands along');
    if (!killed && tree !== undefined && !tree.hasRun && exit.code === 0)
      throw notMade(cwd, 'bwrap ended well, but never said that the command ran');
    if (killed || tree?.hasRun || (exit.code !== FAILED && (tree === undefined || exit.code !== 1))) return;
    if (!stderr!.closed) await new Promise((resolve) => stderr!.once('close', resolve));
    if (tree?.hasRun) return;
    const mark = [MARK, 'bwrap: '].find((mark) => said.startsWith(mark));
    if (mark === undefined) return;
    const why = Buffer.from(said, 'latin1').toString().slice(mark.length).trim();
    throw notMade(cwd, why);
  };
}

function notMade(cwd: string, why: string): BosunError {
  return new BosunError(
    'system',
    `cannot prepare the surroundings of a command in ${cwd}: ${why}; bosun doctor says what this machine lacks`,
    { data: { why } },
  );
}
