/** The list, beside a base, of the paths that its commit has and the base does not. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bytesKey } from '../base/bytes-key.ts';
import type { Hidden } from './workspace.ts';

export async function writeHidden(home: string, paths: readonly Buffer[]): Promise<void> {
  await writeFile(path.join(home, 'hidden'), paths.map(bytesKey).join('\0'), 'latin1');
}

export async function readHidden(home: string): Promise<Hidden> {
  const listed = await readFile(path.join(home, 'hidden'), 'latin1').catch(() => '');
  const files = new Set(listed.split('\0').filter((file) => file !== ''));
  const directories = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      if (directories.has(file.slice(0, end))) break;
      directories.add(file.slice(0, end));
    }
  }
  return { files, directories };
}
