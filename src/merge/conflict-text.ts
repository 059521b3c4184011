/** What of a file two sides both changed, with git's marks around it: a few lines of it, for people. */
import type { EngineGit } from '../system/git/engine-git.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const LINES_MAX = 60;
const LINE_CHARS_MAX = 300;

/** Undefined where it has no marks: one side deleted it, it is binary, or it is too large. */
export async function conflictText(
  engine: EngineGit,
  tree: string,
  path: string,
): Promise<string | undefined> {
  const name = `${tree}:${path}`;
  const size = await engine.run(['cat-file', '-s', name], { codes: [0, 128] });
  if (size.code !== 0 || Number(size.stdout.toString()) > FILE_BYTES_MAX) return undefined;
  const { stdout } = await engine.run(['cat-file', 'blob', name], { codes: [0, 128] });
  return markedLines(stdout.toString());
}

function markedLines(text: string): string | undefined {
  const marked: string[] = [];
  let isWithin = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('<<<<<<< ')) {
      isWithin = true;
      marked.push('<<<<<<< yours');
    } else if (isWithin && line.startsWith('>>>>>>> ')) {
      isWithin = false;
      marked.push('>>>>>>> the run');
    } else if (isWithin) marked.push(line.slice(0, LINE_CHARS_MAX).toWellFormed());
    if (marked.length > LINES_MAX) return [...marked.slice(0, LINES_MAX), '…'].join('\n');
  }
  return marked.length === 0 ? undefined : marked.join('\n');
}
