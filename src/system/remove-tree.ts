/** Removes a directory of ours whatever an attempt did to the permissions in it. */
import { chmod, readdir, rm } from 'node:fs/promises';

const TRIES_MAX = 5;
const LOCKED = new Set(['EACCES', 'EPERM', 'ENOTEMPTY']);

export async function removeTree(directory: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rm(directory, { recursive: true, force: true });
    } catch (error) {
      if (tries === TRIES_MAX || !LOCKED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      await unlock(Buffer.from(directory));
    }
  }
}

/** The failed removal may still be at work: what is gone by now is fine. */
async function unlock(directory: Buffer): Promise<void> {
  try {
    await chmod(directory, 0o700);
    for (const entry of await readdir(directory, { withFileTypes: true, encoding: 'buffer' })) {
      if (entry.isDirectory()) await unlock(Buffer.concat([directory, Buffer.from('/'), entry.name]));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
