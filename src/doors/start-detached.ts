/**
 * Starts a command of ours in a session of its own, where it does its checks and says over a pipe which run it drives.
 * It outlives whoever started it. It keeps no list: the journal and its locks say what is at work.
 */
import path from 'node:path';
import { PACKAGE } from '../base/package-directory.ts';
import type { Actor } from '../contract/actor.ts';
import { ASKED_BY, DETACHED } from './apart.ts';
import { startApart } from '../system/process/process.ts';

const ID_CHARS_MAX = 1000;

interface Options {
  cwd?: string;
  /** Whoever types, if not given. */
  by?: Actor;
  /** What it says before it is under way. */
  onSaid(text: string): void;
}

/** The run; or the exit code, where there is none. */
export async function startDetached(
  words: readonly string[],
  { cwd, by, onSaid }: Options,
): Promise<{ run: string } | { exitCode: number }> {
  const env = { ...process.env, [DETACHED]: '1', ...(by && { [ASKED_BY]: JSON.stringify(by) }) };
  const { told, said, exited, leave } = startApart([path.join(PACKAGE, 'bin', 'bosun'), ...words], {
    env,
    ...(cwd !== undefined && { cwd }),
  });
  said.on('data', (text: Buffer) => onSaid(text.toString()));
  let id = '';
  told.on('data', (text: Buffer) => (id = (id + text.toString()).slice(0, ID_CHARS_MAX)));
  const named = new Promise<void>((resolve) => told.on('data', () => void (id.endsWith('\n') && resolve())));
  const code = await Promise.race([exited, named]);
  leave();
  // It may have ended before there was a run.
  return typeof code === 'number' && !id.endsWith('\n') ? { exitCode: code || 1 } : { run: id.trimEnd() };
}
