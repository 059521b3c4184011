/**
 * Copies git's index with its age. git reads a file again that changed in the second in which the index was written, or
 * later: a copy that looks younger than the index would hide such a change where the file's size is the same.
 */
import { copyFile, stat, utimes } from 'node:fs/promises';

export async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
}
