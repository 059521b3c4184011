/**
 * Runs that go on without a terminal: the command is started again in a session of its own, and says over a pipe which
 * run it drives. What is wrong is said here, by the one that was typed.
 */
import { closeSync, writeSync } from 'node:fs';
import { startDetached } from '../start-detached.ts';
import { writeError, writeOut } from './output.ts';

const PIPE = 3;

/** Resolves with the exit code, once the run is under way or cannot be. */
export async function detach(words: readonly string[]): Promise<number> {
  const started = await startDetached(words, { onSaid: writeError });
  if ('exitCode' in started) return started.exitCode;
  writeOut(`${started.run}\n`);
  return 0;
}

/** To the process that was typed, which then ends. False where it has gone, since somebody pressed Ctrl-C. */
export function tellDetached(id: string): boolean {
  process.removeAllListeners('SIGHUP');
  process.on('SIGHUP', () => {}); // its terminal is none of ours
  try {
    writeSync(PIPE, `${id}\n`);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(PIPE);
  }
}
