/** A diff as rows whose heights are known: the heads of files, and the lines of those that are open. Pure. */
import { spellControls } from '../../../src/report/text/plain.ts';
import type { PatchLine } from '../../../src/report/patch/patch.ts';
import type { Comment } from '../comments.ts';
import type { DiffFile } from './use-diff.ts';

export type DiffRow = { topPx: number; heightPx: number; isLast?: true } & (
  | { kind: 'file'; file: DiffFile; isOpen: boolean }
  | { kind: 'line'; file: DiffFile; line: PatchLine; key: string; parts: readonly string[] }
  | { kind: 'said'; file: DiffFile; text: string }
  | { kind: 'comment'; comment: Comment }
  | { kind: 'compose'; file: DiffFile; line: PatchLine; key: string }
);

export interface DiffRoom {
  /** Infinity where lines are not broken. */
  columns: number;
  isPhone: boolean;
}

const LARGE_LINES = 600;
const LINE_PX = 20;
const FILE_PX = 33;
const GAP_PX = 11;
const COMMENT_PX = 58;
const COMPOSE_PX = 136;
const LINE_CHARS_MAX = 4000;
const LOCKS =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.ya?ml|bun\.lockb?|Cargo\.lock|Gemfile\.lock|composer\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|mix\.lock|Podfile\.lock|packages\.lock\.json|deno\.lock)$|\.min\.(js|css)$|\.map$/;

/** Why it is closed before anybody has opened it; empty where it is open. */
export function whyClosed({ path, added, deleted, lines }: DiffFile): string {
  if (LOCKS.test(path)) return 'written by a program';
  if (added === null) return 'binary';
  if (lines && lines.length === 0) return 'no lines';
  return added + (deleted ?? 0) > LARGE_LINES ? 'large' : '';
}

/** `1:12`: before the change or after it, and which line. */
function keyOf(file: DiffFile, { before, after }: PatchLine): string {
  return `${file.path}\n${after === null ? `-${before ?? 0}` : `+${after}`}`;
}

export interface Open {
  isOpen(file: DiffFile): boolean;
  /** The line that a comment is written on. */
  composing: string | undefined;
  comments: readonly Comment[];
}

export function diffRows(
  files: readonly DiffFile[],
  { isOpen, composing, comments }: Open,
  { columns, isPhone }: DiffRoom,
): { rows: DiffRow[]; allPx: number; columnsMax: number } {
  const rows: DiffRow[] = [];
  const byLine = Map.groupBy(comments, ({ key }) => key);
  let topPx = 0;
  let columnsMax = 0;
  const push = (row: DiffRowBody, heightPx: number): void => {
    rows.push({ ...row, topPx, heightPx });
    topPx += heightPx;
  };
  const filePx = isPhone ? 42 : FILE_PX;
  for (const file of files) {
    const isShown = isOpen(file);
    push({ kind: 'file', file, isOpen: isShown }, filePx);
    if (isShown) {
      if (file.problem !== undefined) push({ kind: 'said', file, text: file.problem }, LINE_PX);
      else if (!file.lines) push({ kind: 'said', file, text: 'Reading…' }, LINE_PX);
      else if (file.lines.length === 0) push({ kind: 'said', file, text: saidOf(file) }, LINE_PX);
      for (const line of file.lines ?? []) {
        const key = keyOf(file, line);
        const text = shownLine(line.text);
        const parts = columns === Infinity || text.length <= columns ? [text] : cut(text, columns);
        columnsMax = Math.max(columnsMax, text.length);
        push({ kind: 'line', file, line, key, parts }, LINE_PX * parts.length);
        for (const comment of byLine.get(key) ?? []) push({ kind: 'comment', comment }, COMMENT_PX);
        if (composing === key && line.kind !== 'hunk') push({ kind: 'compose', file, line, key }, COMPOSE_PX);
      }
    }
    rows.at(-1)!.isLast = true;
    topPx += GAP_PX;
  }
  return { rows, allPx: topPx, columnsMax };
}

type DiffRowBody = DiffRow extends infer R
  ? R extends DiffRow
    ? Omit<R, 'topPx' | 'heightPx'>
    : never
  : never;

function saidOf({ added, note }: DiffFile): string {
  if (added === null) return 'A binary file: bosun diff has it';
  return note === '' ? 'Its mode or its name changed, and no line' : note;
}

/** No longer than a line that anybody reads, with what hides or reorders it spelled out. */
export function shownLine(text: string): string {
  const cutText = text.length > LINE_CHARS_MAX ? `${text.slice(0, LINE_CHARS_MAX).toWellFormed()}…` : text;
  return /^[\x20-\x7e]*$/.test(cutText) ? cutText : spellControls(cutText.replaceAll('\t', '    '));
}

function cut(text: string, columns: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += columns) parts.push(text.slice(at, at + columns));
  return parts;
}

/** The row at this height, or the one before it. */
export function rowAt(rows: readonly DiffRow[], y: number): number {
  let [low, high] = [0, Math.max(0, rows.length - 1)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle]!.topPx <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
