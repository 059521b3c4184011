/** A path without links in it. One that leads nowhere stays as it is: whoever opens it says so. */
import { realpathSync } from 'node:fs';

export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
