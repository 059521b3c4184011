/** Makes what agents wrote harmless to look at: nothing that moves a cursor, sets a title or reorders text. */

/** Whole terminal sequences: CSI (colours, cursor), OSC and its kin (title, links, clipboard), two-byte ones. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g;

/** Other controls, line and paragraph separators, marks that are invisible or change direction. */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Surrogate}|[\u{e0000}-\u{e007f}]/gu;

/** One line of output: sequences go, tabs become blanks, other controls are written out. */
export function plainLine(text: string): string {
  return spellControls(text.replace(SEQUENCES, '').replaceAll('\t', '  '));
}

/** A name: nothing goes, so that two names that differ never look the same. */
export function spellControls(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = char.codePointAt(0)!;
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** Columns a terminal needs for it: two for ideographs and emoji, none for combining marks. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (/^\p{M}$/u.test(char)) continue;
    columns +=
      /^[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\uff01-\uff60]$/u.test(
        char,
      )
        ? 2
        : 1;
  }
  return columns;
}

export function fitColumns(text: string, columnsMax: number): string {
  if (columnsOf(text) <= columnsMax) return text;
  let fitting = '';
  let columns = 0;
  for (const char of text) {
    columns += columnsOf(char);
    if (columns >= columnsMax) break;
    fitting += char;
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
