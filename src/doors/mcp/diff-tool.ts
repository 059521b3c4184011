/** The tool that shows what a run changed: the files, and the patch a page at a time. */
import { Changes } from '../../contract/outputs.ts';
import { count, opt, text, texts } from '../../contract/schema-parts.ts';
import { plainText } from './bounds.ts';
import { askAs, fieldOf, type ToolContext, type Tool } from './tool.ts';
import type { InputOf } from '../../contract/operations.ts';

const PAGE_BYTES = 32 * 1024;
/** Of its text, in which controls are spelled out. */
export const PATCH_CHARS_MAX = 64 * 1024;
const FILES_SHOWN_MAX = 200;

type DiffInput = InputOf<'diff'> & { offset?: number };

export const DIFF: Tool = {
  name: 'engine_diff',
  title: 'What a run changed',
  about: `The files that a run or one of its tasks changed, and the patch. A long patch comes in pages of ${PAGE_BYTES / 1024} KB: call again with offset set to the nextOffset that was given; the files come with the first. With stat only the files.`,
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
    /** Absent on later pages, and so is how many there are. */
    files: opt(Changes.shape.files),
    fileCount: opt(count),
    /** Absent with `stat`. */
    patch: opt(text),
    /** Where the next page begins; absent on the last one. */
    nextOffset: opt(count),
    notes: texts,
  }),
  kind: 'looks',
  async act({ offset = 0, ...input }: DiffInput, asking: ToolContext) {
    if (input.stat || offset === 0) {
      const { from, to, files } = await askAs(asking, 'diff', { ...input, stat: true }, { write() {} });
      const shown = files.slice(0, FILES_SHOWN_MAX);
      const left = files.length - shown.length;
      const notes = left > 0 ? [`${left} more files are not listed here`] : [];
      const changes = { from, to, files: shown, fileCount: files.length };
      if (input.stat) return { ...changes, notes };
      const page = await readPage(input, offset, asking);
      return { ...changes, ...page, notes: [...notes, ...page.notes] };
    }
    return readPage(input, offset, asking);
  },
};

interface Page {
  from: string;
  to: string;
  patch: string;
  nextOffset?: number;
  notes: string[];
}

/** What comes after the page is not even made; what comes before it is, each time. */
async function readPage(input: InputOf<'diff'>, offset: number, asking: ToolContext): Promise<Page> {
  const pieces: Buffer[] = [];
  let [at, bytes, from, to] = [0, 0, '', ''];
  const enough = new AbortController();
  const write = (piece: Buffer): void => {
    const wanted = piece.subarray(Math.max(0, offset - at));
    at += piece.length;
    if (wanted.length === 0 || bytes > PAGE_BYTES) return;
    pieces.push(wanted);
    bytes += wanted.length;
    if (bytes > PAGE_BYTES) enough.abort();
  };
  const range = (before: string, after: string): void => void ([from, to] = [before, after]);
  const signal = AbortSignal.any([asking.signal, enough.signal]);
  try {
    await askAs(asking, 'diff', input, { write, range, signal });
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  }
  asking.signal.throwIfAborted();
  const all = Buffer.concat(pieces);
  const page = beginningOf(all);
  const patch = plainText(page.toString());
  if (page.length === all.length) return { from, to, patch, notes: [] };
  const nextOffset = offset + page.length;
  const notes = [`the patch goes on: call again with offset ${nextOffset}`];
  return { from, to, patch, nextOffset, notes };
}

/** As much as a page has. Controls that are spelled out are longer: there it has less, so that none of it is cut off. */
function beginningOf(bytes: Buffer): Buffer {
  let page = wholeLines(bytes, PAGE_BYTES);
  while (plainText(page.toString()).length > PATCH_CHARS_MAX)
    page = wholeLines(page, Math.floor(page.length / 2));
  return page;
}

/** Whole characters, where a line is longer. */
function wholeLines(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.length <= bytesMax) return bytes;
  const line = bytes.lastIndexOf(0x0a, bytesMax - 1) + 1;
  if (line > 0) return bytes.subarray(0, line);
  const isWithin = (at: number): boolean => (bytes[at]! & 0xc0) === 0x80;
  const back = [0, 1, 2, 3].find((each) => !isWithin(bytesMax - each)) ?? 0;
  return bytes.subarray(0, bytesMax - back);
}
