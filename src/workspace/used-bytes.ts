/** How much disk a directory takes, and when something in it was last changed. */
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { join } from './stack.ts';

export async function usedBytes(file: string): Promise<number> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return 0;
  let bytes = stat.blocks * 512;
  if (!stat.isDirectory()) return bytes;
  for (const name of await readdir(file).catch((): string[] => []))
    bytes += await usedBytes(path.join(file, name));
  return bytes;
}

/** What cannot be read may have been changed just now. */
export async function changedAtMs(file: Buffer): Promise<number> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return Infinity;
  let last = stat.ctimeMs;
  if (!stat.isDirectory()) return last;
  const names = await readdir(file, { encoding: 'buffer' }).catch(() => undefined);
  if (names === undefined) return Infinity;
  for (const name of names) last = Math.max(last, await changedAtMs(join(file, name)));
  return last;
}
