/**
 * A folder in an attempt's memory that an agent's program calls its home. Earlier attempts could write there, so what we
 * put into it never goes through something that they left.
 */
import { lchown, lstat, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { removeTree } from '../../system/files/remove-tree.ts';
import type { Job } from '../runtime.ts';

/** Only while no attempt that could change it is running. */
export async function makeHome({ memory }: Pick<Job, 'memory'>, name: string): Promise<string> {
  const home = path.join(memory, name);
  const before = await lstat(home).catch(() => undefined);
  if (before?.isDirectory()) return home;
  if (before) await removeTree(home);
  await mkdir(home);
  await giveTo(memory, home);
  return home;
}

/** A new file in place of whatever has its name. */
export async function writeAnew(home: string, name: string, text: string): Promise<void> {
  const file = path.join(home, name);
  await removeTree(file);
  await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  await giveTo(home, file);
}

/** A link in place of whatever has its name; whoever reads through it does so with the program's own rights. */
export async function linkAnew(home: string, name: string, target: string): Promise<void> {
  const file = path.join(home, name);
  await removeTree(file);
  await symlink(target, file);
  await giveTo(home, file);
}

/** The program may run as another user than we: the one whose folder it is. */
async function giveTo(folder: string, file: string): Promise<void> {
  const [{ uid, gid }, now] = await Promise.all([stat(folder), lstat(file)]);
  if (now.uid !== uid || now.gid !== gid) await lchown(file, uid, gid);
}
