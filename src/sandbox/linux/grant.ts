/**
 * Opens directories of a running sandbox for writing, by a small native program built from native/grant.c. It never
 * decides whether that is allowed, and takes nothing back.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { capture } from '../../system/process/process.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../../build/grant');
const TIMEOUT_MS = 5000;

export interface Widening {
  /** A process of the sandbox, as this machine numbers it: `child-pid` of bwrap's --info-fd. */
  initPid: number;
  /** Of that process, as ProcessTable reads it: the number alone may be somebody else's by now. */
  startTicks: number;
  /** Where the sandbox has its workspace. */
  workspace: string;
  /** Relative to the workspace; '' is all of it. Those that are missing are made. */
  directories: readonly string[];
  /** Whom the sandbox belongs to, where the engine is root. */
  uid?: number;
}

/** Whether the program was built: it needs a compiler at install. */
export const canWiden = existsSync(PROGRAM);

/**
 * The running processes see it at once. What is mounted below a directory stays as it is: masked or read-only.
 * Rejects at the first directory that cannot be opened, such as one behind a symbolic link; those before it are open.
 */
export async function widen({ initPid, startTicks, workspace, directories, uid }: Widening): Promise<void> {
  const names = [...new Set(directories.map(normalized))];
  if (names.length === 0) return;
  names.sort((a, b) => depth(a) - depth(b)); // a fresh mount of a parent would hide that of a child
  const { code, stderr } = await capture(
    [
      PROGRAM,
      ...(uid === undefined ? [] : ['-u', String(uid)]),
      String(initPid),
      String(startTicks),
      workspace,
      ...names,
    ],
    { env: {}, signal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  if (code === 0) return;
  const why = stderr.trim() || `the program ended with ${code}`;
  throw new BosunError('system', `cannot open ${names.join(', ')} of ${workspace} for writing: ${why}`, {
    data: { why },
  });
}

function normalized(directory: string): string {
  const name = path.posix.normalize(directory).replace(/\/$/, '');
  if (path.isAbsolute(name) || name === '..' || name.startsWith('../') || name.includes('\0'))
    throw new TypeError(`${directory} is not in the workspace`);
  return name === '.' ? '' : name;
}

function depth(name: string): number {
  return name === '' ? 0 : name.split('/').length;
}
