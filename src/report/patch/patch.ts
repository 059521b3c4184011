/** Reads a unified diff as git writes it: files and numbered lines. Never fails: what it cannot read is shown as it is. */
import type { DiffReport } from '../../contract/report.ts';
import { clipLines } from '../limits.ts';
import type { Patch } from './patch-reader.ts';

export interface PatchFile {
  path: string;
  note: string;
  added: number;
  removed: number;
  lines: PatchLine[];
}

export interface PatchLine {
  kind: 'hunk' | 'added' | 'removed' | 'same' | 'note';
  before: number | null;
  after: number | null;
  text: string;
}

export function reportDiff({ text, lines: all, ...counts }: Patch, charsMax: number): DiffReport {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const kept = clipLines(lines, charsMax);
  return {
    patch: kept.map((line) => `${line}\n`).join(''),
    ...counts,
    linesLeftOut: all - kept.length,
  };
}

export function readPatch(lines: string[]): PatchFile[] {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  let before = 0;
  let after = 0;
  // A hunk says how many lines it has; within it a line that looks like a header is a line of the file.
  let beforeLeft = 0;
  let afterLeft = 0;
  for (const line of lines) {
    const inHunk = beforeLeft > 0 || afterLeft > 0;
    const sign = line[0];
    if (!inHunk && line.startsWith('diff --git ')) {
      file = { path: pathOfHeader(line), note: '', added: 0, removed: 0, lines: [] };
      files.push(file);
      continue;
    }
    file ??= firstFile(files);
    const hunk = inHunk ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      beforeLeft = Number(hunk[2] ?? 1);
      afterLeft = Number(hunk[4] ?? 1);
      file.lines.push({ kind: 'hunk', before: null, after: null, text: line });
    } else if (inHunk && sign === '+') {
      file.added += 1;
      file.lines.push({ kind: 'added', before: null, after, text: line.slice(1) });
      after += 1;
      afterLeft -= 1;
    } else if (inHunk && sign === '-') {
      file.removed += 1;
      file.lines.push({ kind: 'removed', before, after: null, text: line.slice(1) });
      before += 1;
      beforeLeft -= 1;
    } else if (inHunk && sign !== '\\') {
      file.lines.push({ kind: 'same', before, after, text: line.slice(1) });
      before += 1;
      after += 1;
      beforeLeft -= 1;
      afterLeft -= 1;
    } else {
      readHeader(file, line);
    }
  }
  return files;
}

function readHeader(file: PatchFile, line: string): void {
  const path = /^(?:\+\+\+ "?b\/|rename to "?)(.*?)"?\t?$/.exec(line)?.[1];
  if (path !== undefined) file.path = path;
  else if (/^(index |--- |\+\+\+ )/.test(line) || line === '') return;
  else if (line.startsWith('\\'))
    file.lines.push({ kind: 'note', before: null, after: null, text: line.slice(2) });
  else if (line.startsWith('new file mode')) file.note = 'new file';
  else if (line.startsWith('deleted file mode')) file.note = 'deleted';
  else file.lines.push({ kind: 'note', before: null, after: null, text: line });
}

/** `diff --git a/x b/x`: the two are the same but for renames, which say so in lines of their own. */
function pathOfHeader(line: string): string {
  const both = line.slice('diff --git '.length).replace(/^"|"$/g, '');
  const half = both.slice(2, Math.floor(both.length / 2)).replace(/" ?"?$/, '');
  return both.endsWith(half) ? half : both;
}

function firstFile(files: PatchFile[]): PatchFile {
  const file = { path: '', note: '', added: 0, removed: 0, lines: [] };
  files.push(file);
  return file;
}
