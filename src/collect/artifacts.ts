/** Keeps copies of the files that a task names as artifacts, bounded in number and size. Never follows a link. */
import { closeSync, constants, fstatSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { mkdirBelow, openBelow } from '../system/files/below.ts';

export interface ArtifactLimits {
  filesMax: number;
  bytesMax: number;
}

const SET_ID_BITS = 0o6000;
const ARTIFACT_LIMITS: ArtifactLimits = { filesMax: 1000, bytesMax: 1024 ** 3 };

/** `into` is new; each file has its path below `root`. What does not fit is named in `refused` as `path: why`. */
export async function keepArtifacts(
  found: readonly { path: string; root: string }[],
  into: string,
  limits: ArtifactLimits = ARTIFACT_LIMITS,
): Promise<{ artifacts: string[]; refused: string[] }> {
  const artifacts: string[] = [];
  const refused: string[] = [];
  let bytes = 0;
  if (found.length > 0) await mkdir(into, { recursive: true });
  for (const file of found) {
    if (artifacts.length >= limits.filesMax) {
      refused.push(`${file.path}: more than ${limits.filesMax} artifacts`);
      break;
    }
    try {
      const fd = openBelow(file.root, file.path);
      try {
        const { size, mode } = fstatSync(fd);
        // A copy of a root engine would be a program that makes anybody root.
        if ((mode & SET_ID_BITS) !== 0) {
          refused.push(`${file.path}: it is set-uid or set-gid`);
          continue;
        }
        if (bytes + size > limits.bytesMax) {
          refused.push(`${file.path}: artifacts larger than ${limits.bytesMax} bytes in all`);
          continue;
        }
        const { dir, base } = path.posix.parse(file.path);
        using directory = mkdirBelow(into, dir, 0o777);
        await copyFile(handlePath(fd, file), directory.at(base), constants.COPYFILE_FICLONE);
        bytes += size;
        artifacts.push(file.path);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      refused.push(message.startsWith(`${file.path}: `) ? message : `${file.path}: ${code ?? message}`);
    }
  }
  return { artifacts, refused };
}

/** macOS has no path for a handle. */
function handlePath(fd: number, { root, path: file }: { root: string; path: string }): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : path.join(root, file);
}
