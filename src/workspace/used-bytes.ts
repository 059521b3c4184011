/** How much disk a directory takes. */
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

export async function usedBytes(file: string): Promise<number> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return 0;
  let bytes = stat.blocks * 512;
  if (!stat.isDirectory()) return bytes;
  for (const name of await readdir(file).catch((): string[] => []))
    bytes += await usedBytes(path.join(file, name));
  return bytes;
}
