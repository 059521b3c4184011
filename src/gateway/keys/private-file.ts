/** Reads a small file that nobody but its owner may read. What is in it stands in no message. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { BosunError } from '../../contract/errors.ts';

export interface PrivateFile {
  file: string;
  /** As messages call it, such as "key file". */
  what: string;
  bytesMax: number;
  /** Whose it must be; anybody's where that is not said. */
  uid?: number | undefined;
  /** What to do where it cannot be read. */
  remedy: string;
}

export async function readPrivateFile({ file, what, bytesMax, uid, remedy }: PrivateFile): Promise<string> {
  try {
    // A pipe that nobody writes to would be waited for without end.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if ((stats.mode & 0o077) !== 0)
      throw problem(
        `others may read the ${what} ${file} (mode ${(stats.mode & 0o777).toString(8)}); run: chmod 600 ${file}`,
      );
    if (uid !== undefined && stats.uid !== uid)
      throw problem(`the ${what} ${file} belongs to another user (uid ${stats.uid}); ${remedy}`);
    if (stats.size > bytesMax) throw problem(`the ${what} ${file} is longer than ${bytesMax} bytes`);
    return await handle.readFile('utf8');
  } catch (error) {
    if (error instanceof BosunError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'an unknown error';
    throw problem(`the ${what} ${file} cannot be read (${code}); ${remedy}`);
  }
}

function problem(message: string): BosunError {
  return new BosunError('usage', message);
}
