/** Reads a small text file, with a plain answer where that cannot be done. It knows nothing of what is in it. */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { isSettings } from '../../base/settings-path.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Read at once and not in turns: a definition is small, and so the builder can be a plain function. */
export function readText(path: string, bytesMax = FILE_BYTES_MAX): { text: string } | { problem: string } {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for somebody to write.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (stat.isDirectory()) return { problem: 'it is a directory; name the file in it' };
    if (!stat.isFile()) return { problem: 'it is not a regular file' };
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (;;) {
      const count = readSync(file, bytes, length, bytes.length - length, null);
      length += count;
      if (length > bytesMax) return { problem: `it is larger than ${bytesMax / 1024 / 1024} MB` };
      if (count === 0) break;
    }
    return decode(bytes.subarray(0, length));
  } catch (error) {
    return { problem: reason(error as NodeJS.ErrnoException) };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * A file of a repository, which may come from a stranger: no link in it leads out of it, nor into `.git`, where our own
 * locks and journals are. To open and close one of these would let go of what this process holds.
 */
export function readTextWithin(
  top: string,
  path: string,
  bytesMax?: number,
): { text: string } | { problem: string } {
  try {
    const real = realpathSync(path);
    const within = realpathSync(top);
    if (!isWithin(within, real))
      return { problem: 'it leads out of the repository; put the file itself there' };
    if (relative(within, real).split(sep).includes('.git'))
      return { problem: 'it leads into .git; put the file itself there' };
    const named = relative(top, path);
    // Agents are kept from the names of settings, and not from whatever a link leads to.
    if (isSettings(Buffer.from(named)) && named !== relative(within, real))
      return { problem: 'it is reached through a link; put the file itself there' };
    return readText(real, bytesMax);
  } catch (error) {
    return { problem: reason(error as NodeJS.ErrnoException) };
  }
}

function decode(bytes: Buffer): { text: string } | { problem: string } {
  const text = bytes.toString();
  if (!isUtf8(bytes)) {
    const line = text.slice(0, text.indexOf('\uFFFD')).split('\n').length;
    return { problem: `it is not UTF-8 text (line ${line}); save it as UTF-8` };
  }
  return { text: text.startsWith('\uFEFF') ? text.slice(1) : text };
}

function reason(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'you may not read it; check its permissions';
    case 'ELOOP':
      return 'its symbolic links go in a circle';
    default:
      return error.message;
  }
}
