/**
 * Starts a command of ours in a session of its own, where it does its checks and says over a pipe which run it drives.
 * It outlives whoever started it. It keeps no list: the journal and its locks say what is at work.
 */
import path from 'node:path';
import { PACKAGE } from '../base/package-directory.ts';
import type { Actor } from '../contract/actor.ts';
import { ASKED_BY, DETACHED, MORE_INPUT } from './apart.ts';
import { startAndHear } from '../system/process/start-and-hear.ts';

interface Options {
  cwd?: string;
  /** Whoever types, if not given. */
  by?: Actor;
  /** Of its operation, what no command line may have. */
  more?: object;
  /** What it says before it is under way. */
  onSaid(text: string): void;
}

/** The run; or the exit code, where there is none. */
export async function startDetached(
  words: readonly string[],
  { cwd, by, more, onSaid }: Options,
): Promise<{ run: string } | { exitCode: number }> {
  const env = {
    ...process.env,
    [DETACHED]: '1',
    ...(by && { [ASKED_BY]: JSON.stringify(by) }),
    ...(more && { [MORE_INPUT]: '1' }),
  };
  const heard = await startAndHear([path.join(PACKAGE, 'bin', 'bosun'), ...words], {
    env,
    onSaid,
    ...(more && { input: JSON.stringify(more) }),
    ...(cwd !== undefined && { cwd }),
  });
  return 'line' in heard ? { run: heard.line } : { exitCode: heard.exitCode || 1 };
}
