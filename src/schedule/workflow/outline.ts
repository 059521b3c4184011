/** A long text in few words, by its structure: the files of a patch, the fields of JSON, headings, first lines. Pure. */
import { cutText } from '../../base/cut-text.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { Json } from '../../contract/workflow.ts';

const LINE_CHARS_MAX = 160;
const FIELDS_MAX = 40;
const FIRST_LINES_MAX = 20;
const LAST_LINES_MAX = 5;
const HEADING = /^#{1,6}\s+\S/;
const PATCHED = /^diff --git a\/.* b\/(.*)$/;

/** No longer than `charsMax`. */
export function outlineOf(text: string, charsMax: number): string {
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const lines = json === undefined ? linesOf(text) : fieldsOf(json);
  const outline: string[] = [];
  let chars = 0;
  for (const [n, line] of lines.entries()) {
    const shown = shorten(line);
    chars += shown.length + 1;
    if (chars > charsMax) {
      outline.push(`… (${lines.length - n} lines more)`);
      break;
    }
    outline.push(shown);
  }
  return outline.join('\n');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.some((line) => PATCHED.test(line))) return patchedFiles(lines);
  const headings = sections(lines);
  if (headings.length > 1) return headings;
  const left = lines.length - FIRST_LINES_MAX - LAST_LINES_MAX;
  if (left <= 0) return lines;
  return [...lines.slice(0, FIRST_LINES_MAX), `… (${left} lines)`, ...lines.slice(-LAST_LINES_MAX)];
}

function patchedFiles(lines: readonly string[]): string[] {
  const files: { name: string; added: number; deleted: number }[] = [];
  for (const line of lines) {
    const name = PATCHED.exec(line)?.[1];
    const last = files.at(-1);
    if (name !== undefined) files.push({ name, added: 0, deleted: 0 });
    else if (last && line.startsWith('+') && !line.startsWith('+++ ')) last.added++;
    else if (last && line.startsWith('-') && !line.startsWith('--- ')) last.deleted++;
  }
  return files.map(({ name, added, deleted }) => `${name}: ${added} lines added, ${deleted} deleted`);
}

/** Each heading with the line that follows it, after how the text begins. */
function sections(lines: readonly string[]): string[] {
  const found: string[] = [];
  let wantsLine = true;
  for (const line of lines) {
    const isHeading = HEADING.test(line);
    if (isHeading) found.push(line);
    else if (wantsLine && line.trim() !== '') found.push(line);
    wantsLine = isHeading || (wantsLine && line.trim() === '');
  }
  return found.some((line) => HEADING.test(line)) ? found : [];
}

function fieldsOf(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  if (Array.isArray(value)) {
    const items = value.slice(0, FIELDS_MAX).map((item) => `- ${describe(item)}`);
    return [`a list of ${value.length}:`, ...items, ...left(value.length)];
  }
  const fields = Object.entries(value);
  return [
    ...fields.slice(0, FIELDS_MAX).map(([name, field]) => `${name}: ${describe(field)}`),
    ...left(fields.length),
  ];
}

function left(count: number): string[] {
  return count > FIELDS_MAX ? [`… (${count - FIELDS_MAX} more)`] : [];
}

function describe(value: Json): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `a map with ${Object.keys(value).slice(0, FIELDS_MAX).join(', ')}`;
  return JSON.stringify(value);
}

function shorten(line: string): string {
  return cutText(line, LINE_CHARS_MAX);
}
