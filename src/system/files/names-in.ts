/** What is in a directory, for those to whom one that is gone or closed is an empty one. */
import { readdirSync } from 'node:fs';

export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
