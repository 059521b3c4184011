/**
 * Runs that go on without a terminal: the command is started again in a session of its own, does its checks there, and
 * says over a pipe which run it drives. What is wrong is said here, by the one that was typed. It keeps no list.
 */
import { closeSync, writeSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE } from '../../base/package-directory.ts';
import { startApart } from '../../system/process/process.ts';
import { writeError, writeOut } from './output.ts';

const VARIABLE = 'BOSUN_DETACHED';
const PIPE = 3;
const ID_CHARS_MAX = 1000;

/** Whether this process was started to drive a run apart, and somebody waits to hear which. */
export const isApart = process.env[VARIABLE] === '1';
delete process.env[VARIABLE]; // nothing that it starts is

/** Resolves with the exit code, once the run is under way or cannot be. */
export async function detach(words: readonly string[]): Promise<number> {
  const argv = [path.join(PACKAGE, 'bin', 'bosun'), ...words];
  const { told, said, exited, leave } = startApart(argv, { env: { ...process.env, [VARIABLE]: '1' } });
  said.on('data', (text: Buffer) => writeError(text.toString()));
  let id = '';
  told.on('data', (text: Buffer) => (id = (id + text.toString()).slice(0, ID_CHARS_MAX)));
  const named = new Promise<void>((resolve) => told.on('data', () => void (id.endsWith('\n') && resolve())));
  const code = await Promise.race([exited, named]);
  leave();
  if (typeof code === 'number' && !id.endsWith('\n')) return code || 1; // it ended before there was a run
  writeOut(id);
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
