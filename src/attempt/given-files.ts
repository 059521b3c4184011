/** Makes the files that an attempt is given to read besides its workspace, in its own directory; changes are cut to a size. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attempt, Stages } from './attempt.ts';
import { give } from '../system/process/sandbox-user.ts';

const GIVEN_FILE_BYTES_MAX = 256 * 1024;

export interface GivenFiles {
  /** What the agent is told of them. */
  words: string;
  env: Record<string, string>;
}

/** Undefined where there are none. They go with the attempt's directory. */
export async function giveFiles(
  { git, launcher }: Stages,
  { start }: Attempt,
  files: string,
): Promise<GivenFiles | undefined> {
  if (!start.files || start.files.length === 0) return undefined;
  const directory = path.join(files, 'given');
  await mkdir(directory, { recursive: true });
  const written: string[] = [directory];
  for (const { name, diff, text } of start.files) {
    const file = path.join(directory, name);
    written.push(file);
    if (!diff) {
      await writeFile(file, text ?? '', { mode: 0o644 });
      continue;
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    await git.streamDiff(diff.from, diff.to, (piece) => {
      if (bytes < GIVEN_FILE_BYTES_MAX) pieces.push(piece.subarray(0, GIVEN_FILE_BYTES_MAX - bytes));
      bytes += piece.length;
    });
    const left = bytes - GIVEN_FILE_BYTES_MAX;
    if (left > 0) pieces.push(Buffer.from(`\n… (${left} bytes more)\n`));
    await writeFile(file, Buffer.concat(pieces), { mode: 0o644 });
  }
  give(launcher.uid, ...written);
  const names = start.files.map(({ name }) => name).join(', ');
  return { words: `The files named here are in ${directory}: ${names}`, env: { BOSUN_FILES: directory } };
}
