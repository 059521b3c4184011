/**
 * Asks the same `git fast-import` that makes a commit what it really changed, which saves a second process.
 * A file may have been written without becoming another one.
 */
import type { Change } from '../system/change.ts';
import type { ChangedPath } from '../system/engine-git.ts';
import { cQuote } from '../system/git.ts';

/** Beyond this a comparison of trees is cheaper. */
const ASKED_MAX = 1000;

export interface Questions {
  /** Undefined where nothing is asked. */
  paths: Buffer[] | undefined;
  /** For the stream, after the commit with mark 1. */
  text: Buffer;
}

export function questions(changes: readonly Change[], parent: string): Questions {
  const byKey = new Map(
    changes.flatMap((change) =>
      change.kind === 'refused' ? [] : [[change.path.toString('latin1'), change.path] as const],
    ),
  );
  if (byKey.size > ASKED_MAX) return { paths: undefined, text: Buffer.alloc(0) };
  const paths = [...byKey.values()].sort((a, b) => Buffer.compare(a, b));
  const lines = paths.flatMap((path) => {
    const name = cQuote(path);
    const newline = Buffer.from('\n');
    return [Buffer.from(`ls ${parent} `), name, newline, Buffer.from('ls :1 '), name, newline];
  });
  return { paths, text: Buffer.concat(lines) };
}

/** Two lines for each path: `<mode> <type> <oid>\t<path>` or `missing <path>`. */
export function answersToPaths({ paths }: Questions, answers: string[]): ChangedPath[] | undefined {
  if (paths === undefined || answers.length !== 2 * paths.length) return undefined;
  const changed: ChangedPath[] = [];
  for (const [index, path] of paths.entries()) {
    const before = entryOf(answers[2 * index]!);
    const after = entryOf(answers[2 * index + 1]!);
    if (before.startsWith('040000')) return undefined; // which files were in it is not told
    const isThere = after !== '' && !after.startsWith('040000');
    if (before === '' && isThere) changed.push({ path, status: 'A' });
    else if (before !== '' && !isThere) changed.push({ path, status: 'D' });
    else if (isThere && before !== after) changed.push({ path, status: 'M' });
  }
  return changed;
}

/** Empty where there is none. */
function entryOf(line: string): string {
  return line.startsWith('missing ') ? '' : line.slice(0, line.indexOf('\t'));
}
