/** How wide a text is in a terminal, and texts that fit. */
import { createRequire } from 'node:module';
import type stringWidth from 'string-width';

/** More than this many characters a column are marks upon marks. */
const CHARS_PER_COLUMN_MAX = 32;
/** One column each, whatever stands beside them: ASCII, Latin letters, and the signs and lines of our own views. */
const NARROW = /^[ -~¡-¬®-˿‐-‧←-↓─-╿○●✓✗]*$/;

/** Columns a terminal needs for it: two for ideographs and emoji, none for marks, whatever they are made of. */
export function columnsOf(text: string): number {
  return NARROW.test(text) ? text.length : measure(text);
}

/** Tables that take a third of the time that a command starts in: each is loaded once it is needed. */
let library: typeof stringWidth | undefined;
let clusters: Intl.Segmenter | undefined;

function measure(text: string): number {
  library ??= (createRequire(import.meta.url)('string-width') as { default: typeof stringWidth }).default;
  return library(text);
}

export function fitColumns(text: string, columnsMax: number): string {
  const start = text.slice(0, Math.max(0, columnsMax + 1) * CHARS_PER_COLUMN_MAX);
  if (start.length === text.length && columnsOf(text) <= columnsMax) return text;
  let fitting = '';
  let columns = 0;
  clusters ??= new Intl.Segmenter();
  for (const { segment } of clusters.segment(start)) {
    columns += columnsOf(segment);
    if (columns >= columnsMax) break;
    fitting += segment;
  }
  return `${fitting}…`;
}

export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** Lines that fit, broken where the separator is. */
export function wrapColumns(text: string, columnsMax: number, separator: string): string[] {
  const lines: string[] = [];
  for (const part of text.split(separator)) {
    const last = lines.at(-1);
    if (last !== undefined && columnsOf(last) + columnsOf(separator) + columnsOf(part) <= columnsMax)
      lines[lines.length - 1] = `${last}${separator}${part}`;
    else lines.push(part);
  }
  return lines.map((line) => fitColumns(line, columnsMax));
}
