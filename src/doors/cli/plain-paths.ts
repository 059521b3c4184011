/**
 * Refuses, before a command starts, a directory whose path bosun cannot hand on: git, the sandbox and the journal take
 * paths as lines of text.
 */
import { existsSync } from 'node:fs';
import { BosunError } from '../../contract/errors.ts';

export function requirePlainPaths(): void {
  let directory: string;
  try {
    directory = process.cwd();
  } catch (cause) {
    throw new BosunError('usage', 'the current directory is gone; change to one that exists', { cause });
  }
  requirePlain(directory, 'the path of this directory', 'rename it, or move the repository');
  const home = process.env.HOME ?? '';
  if (home !== '') requirePlain(home, 'the path of your home directory (HOME)', 'set HOME to another one');
}

function requirePlain(name: string, what: string, remedy: string): void {
  // Bytes that are not UTF-8 are read as U+FFFD, and then lead nowhere.
  const isBroken = name.includes('\uFFFD') && !existsSync(name);
  const isLines = /[\n\r]/.test(name);
  if (!isBroken && !isLines) return;
  const holds = isLines ? 'a line break' : 'bytes that are not UTF-8';
  throw new BosunError('usage', `${what} holds ${holds}: ${JSON.stringify(name)}; ${remedy}`);
}
