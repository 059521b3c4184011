/** The tool that shows what a run changed: the files, and the patch a page at a time. */
import { Changes } from '../../contract/outputs.ts';
import { count, opt, text, texts } from '../../contract/schema-parts.ts';
import { plainText } from './bounds.ts';
import { ask, fieldOf, type Asking, type Tool } from './tool.ts';
import type { InputOf } from '../../contract/operations.ts';

const PAGE_BYTES = 32 * 1024;
const FILES_SHOWN_MAX = 200;

type DiffInput = InputOf<'diff'> & { offset?: number };

export const DIFF: Tool = {
  name: 'engine_diff',
  title: 'What a run changed',
  about: `The files that a run or one of its tasks changed, and the patch. A long patch comes in pages of ${PAGE_BYTES / 1024} KB: call again with offset set to the nextOffset that was given. With stat only the files.`,
  asks: ['diff'],
  input: {
    type: 'object',
    properties: {
      run: fieldOf('diff', 'run', 'the run; the only one at work, else the latest, if not given'),
      task: fieldOf('diff', 'task', 'only what this task changed, even if it failed'),
      attempt: fieldOf('diff', 'attempt', 'of the task: what this attempt left'),
      outside: fieldOf('diff', 'outside', 'of the task: what its scope did not allow, and was left out'),
      stat: fieldOf('diff', 'stat', 'only the files and how many lines, without the patch'),
      offset: { type: 'integer', minimum: 0, description: 'where in the patch to begin, in bytes' },
    },
    dependentRequired: { attempt: ['task'], outside: ['task'] },
  },
  output: Changes.extend({
    fileCount: count,
    /** Absent with `stat`. */
    patch: opt(text),
    /** Where the next page begins; absent on the last one. */
    nextOffset: opt(count),
    notes: texts,
  }),
  kind: 'looks',
  async act({ offset = 0, ...input }: DiffInput, asking: Asking) {
    const { from, to, files } = await ask(asking, 'diff', { ...input, stat: true }, { write() {} });
    const shown = files.slice(0, FILES_SHOWN_MAX);
    const left = files.length - shown.length;
    const notes = left > 0 ? [`${left} more files are not listed here`] : [];
    const changes = { from, to, files: shown, fileCount: files.length };
    if (input.stat) return { ...changes, notes };
    const { page, isLast } = await readPage(input, offset, asking);
    const nextOffset = offset + page.length;
    if (!isLast) notes.push(`the patch goes on: call again with offset ${nextOffset}`);
    const patch = plainText(page.toString());
    return { ...changes, patch, ...(!isLast && { nextOffset }), notes };
  },
};

/** Ends with a whole line where there is one; the rest is not even made. */
async function readPage(
  input: InputOf<'diff'>,
  offset: number,
  asking: Asking,
): Promise<{ page: Buffer; isLast: boolean }> {
  const pieces: Buffer[] = [];
  let [at, bytes] = [0, 0];
  const enough = new AbortController();
  const write = (piece: Buffer): void => {
    const wanted = piece.subarray(Math.max(0, offset - at));
    at += piece.length;
    if (wanted.length === 0 || bytes > PAGE_BYTES) return;
    pieces.push(wanted);
    bytes += wanted.length;
    if (bytes > PAGE_BYTES) enough.abort();
  };
  const signal = AbortSignal.any([asking.signal, enough.signal]);
  try {
    await ask(asking, 'diff', input, { write, signal });
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  }
  asking.signal.throwIfAborted();
  const all = Buffer.concat(pieces);
  if (all.length <= PAGE_BYTES) return { page: all, isLast: true };
  const line = all.lastIndexOf(0x0a, PAGE_BYTES - 1) + 1;
  return { page: all.subarray(0, line === 0 ? PAGE_BYTES : line), isLast: false };
}
