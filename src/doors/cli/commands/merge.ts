/** `bosun merge` */
import { plainLine } from '../../../report/text/plain.ts';
import { count, shortCommit } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';
import { withTrust } from '../with-trust.ts';

const HOW = { 'fast-forward': 'fast-forwarded', merged: 'merged', squashed: 'squashed' };

export async function run(typed: Typed): Promise<number> {
  if (typed.options.preview) return (await import('./merge-preview.ts')).run(typed);
  if (typed.options.undo) return undo(typed);
  const input = inputOf('merge', typed);
  const tell = {
    printed: (text: string) => writeError(text.split('\n').map(plainLine).join('\n')),
    recovered: (text: string) => writeError(`note: ${text}\n`),
  };
  const merged = await withTrust(() => ask('merge', input, tell));
  const { kind, head, branch, run: id, commits, unfinished } = merged;
  const where = branch ?? 'your detached HEAD';
  const note = unfinished === undefined ? '' : `note: ${unfinished}; continue with: bosun resume ${id}\n`;
  if (kind === 'nothing') {
    writeError(commits === 0 ? `run ${id} changed nothing\n` : `${where} has all of run ${id} already\n`);
    writeError(note);
    return 0;
  }
  writeOut(`${head}\n`);
  const what =
    kind === 'squashed' ? `all of run ${id} in one commit` : `${count(commits, 'commit')} of run ${id}`;
  writeError(`${HOW[kind]}: ${where} is at ${shortCommit(head)} with ${what}\n`);
  writeError(note);
  return 0;
}

async function undo(typed: Typed): Promise<number> {
  const recovered = (text: string): void => writeError(`note: ${text}\n`);
  const { head, branch, run: id } = await ask('undoMerge', inputOf('undoMerge', typed), { recovered });
  writeOut(`${head}\n`);
  writeError(
    `undone: ${branch ?? 'your detached HEAD'} is at ${shortCommit(head)} again, without run ${id}\n`,
  );
  return 0;
}
