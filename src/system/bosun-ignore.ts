/** Has git ignore `.bosun`, but for what people write there themselves, without a word in a file of theirs. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const IGNORE = '*\n!/agents/\n!/agents/**\n!/config.yaml\n';
/** What earlier versions wrote. Anything else is somebody's own. */
const EARLIER = ['*\n', '*\n!/agents/\n!/agents/**\n'];

export async function writeIgnore(directory: string): Promise<void> {
  const file = path.join(directory, '.gitignore');
  const text = await readFile(file, 'utf8').catch(ifMissing);
  if (text === undefined) await writeFile(file, IGNORE);
  // Where only that cannot be written, all else works as before.
  else if (EARLIER.includes(text)) await writeFile(file, IGNORE).catch(() => {});
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
