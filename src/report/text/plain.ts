/** Makes what agents wrote harmless to look at: nothing that moves a cursor, sets a title or reorders text. */

/** Whole terminal sequences: CSI (colours, cursor), OSC and its kin (title, links, clipboard), two-byte ones. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g;

/** Other controls, line and paragraph separators, marks that are invisible, blank or change direction; emoji stay. */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|\p{Surrogate}|[\u{e0000}-\u{e01ef}]|[\ufe00-\ufe0e]|(?<!\p{Extended_Pictographic})\ufe0f/gu;

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

/** A colour of ours: what `painter` writes, and nothing that moves or hides. */
// oxlint-disable-next-line no-control-regex
const PAINTED = /(\x1b\[(?:[0-2]|(?:1;)?3[1-6])m|\n|\t)/;

/** What is text, and between two texts one colour, line feed or tab. */
export function splitPainted(text: string): string[] {
  return text.split(PAINTED);
}

/** Text of several lines, painted by us, in which whatever else a terminal would act on is written out. */
export function harmless(text: string): string {
  return splitPainted(text)
    .map((part, n) => (n % 2 === 1 ? part : spellControls(part)))
    .join('');
}

/** JSON in which a terminal finds nothing to act on: it says the same with these characters escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(CONTROLS, (char) =>
    char === '\n'
      ? char
      : char.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** No line of a screen or a table is longer. */
const LINE_CHARS_MAX = 10_000;
const MARKS = '.:;,!?…';

/** A message of several lines as one: a list of problems stays a list. */
export function inOneLine(text: string): string {
  const [first = '', ...others] = text
    .slice(0, LINE_CHARS_MAX)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return plainLine(
    others.reduce((said, line) => `${said}${MARKS.includes(said.at(-1)!) ? ' ' : '; '}${line}`, first),
  );
}
