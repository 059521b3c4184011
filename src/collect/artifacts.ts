/** Keeps copies of the files that a task names as artifacts, bounded in number and size. */
import { copyFile, mkdir } from 'node:fs/promises';
import { constants, lstatSync } from 'node:fs';
import path from 'node:path';

export interface ArtifactLimits {
  filesMax: number;
  bytesMax: number;
}

const ARTIFACT_LIMITS: ArtifactLimits = { filesMax: 1000, bytesMax: 1024 ** 3 };

/** `into` is new; what does not fit is named in `refused` as `path: why`. */
export async function keepArtifacts(
  found: readonly { path: string; source: string }[],
  into: string,
  limits: ArtifactLimits = ARTIFACT_LIMITS,
): Promise<{ artifacts: string[]; refused: string[] }> {
  const artifacts: string[] = [];
  const refused: string[] = [];
  let bytes = 0;
  for (const file of found) {
    if (artifacts.length >= limits.filesMax) {
      refused.push(`${file.path}: more than ${limits.filesMax} artifacts`);
      break;
    }
    try {
      const { size } = lstatSync(file.source);
      if (bytes + size > limits.bytesMax) {
        refused.push(`${file.path}: artifacts larger than ${limits.bytesMax} bytes in all`);
        continue;
      }
      const target = path.join(into, file.path);
      await mkdir(path.dirname(target), { recursive: true });
      await copyFile(file.source, target, constants.COPYFILE_FICLONE);
      bytes += size;
      artifacts.push(file.path);
    } catch (error) {
      refused.push(`${file.path}: ${(error as Error).message}`);
    }
  }
  return { artifacts, refused };
}
