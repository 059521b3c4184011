/** One line of a .gitignore, read as git reads it. It matches nothing itself. */
import {
  ANY_NAME,
  DEEP,
  STAR,
  type CharSet,
  type Name,
  type Segment,
  type GlobToken,
} from '../../base/glob-syntax.ts';

export interface IgnoreRule {
  /** With the directories before it, where the line says where it stands; else of a name anywhere. */
  segments: readonly Segment[];
  isAnchored: boolean;
  isForDirectories: boolean;
  /** Begins with `!`: what it names is not ignored. */
  isException: boolean;
}

/** Undefined for blank lines, comments, and what matches nothing. */
export function parseIgnoreLine(line: string): IgnoreRule | undefined {
  let text = withoutBlanksAtEnd(line);
  if (text === '' || text.startsWith('#')) return undefined;
  const isException = text.startsWith('!');
  if (isException) text = text.slice(1);
  const isForDirectories = text.endsWith('/');
  if (isForDirectories) text = text.slice(0, -1);
  const isAnchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  if (text === '') return undefined;
  const segments: Segment[] = [];
  for (const name of text.split('/')) {
    if (name === '**' && isAnchored) {
      if (segments.at(-1) !== DEEP) segments.push(DEEP);
      continue;
    }
    const parsed = parseName(name);
    if (!parsed) return undefined;
    segments.push(parsed);
  }
  // All that is below, but not the directory itself.
  if (segments.at(-1) === DEEP) segments.push(ANY_NAME);
  return { segments, isAnchored, isForDirectories, isException };
}

/** Blanks at the end go, unless a backslash stands before them. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  let slashes = 0;
  while (line[end - 1 - slashes] === '\\') slashes += 1;
  return line.slice(0, end < line.length && slashes % 2 === 1 ? end + 1 : end);
}

/** Of a plain name there are no tokens: it is compared as a whole. */
function parseName(name: string): Name | undefined {
  if (name === '*') return ANY_NAME;
  if (!/[*?[\\]/.test(name)) return { tokens: [], literal: name };
  const tokens: GlobToken[] = [];
  let literal: string | undefined = '';
  for (let at = 0; at < name.length; at += 1) {
    let char = name[at]!;
    if (char === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
      literal = undefined;
    } else if (char === '?') {
      tokens.push({ ranges: [], isNegated: true });
      literal = undefined;
    } else if (char === '[') {
      const found = parseClass(name, at);
      if (!found) return undefined;
      tokens.push(found.set);
      literal = undefined;
      at = found.end;
    } else {
      if (char === '\\') {
        if (at + 1 === name.length) return undefined;
        char = name[(at += 1)]!;
      }
      const code = char.charCodeAt(0);
      tokens.push({ ranges: [[code, code]], isNegated: false });
      if (literal !== undefined) literal += char;
    }
  }
  return { tokens, literal };
}

const CLASSES: Readonly<Record<string, CharSet['ranges']>> = {
  alnum: ranges('09AZaz'),
  alpha: ranges('AZaz'),
  blank: ranges('  \t\t'),
  cntrl: ranges('\0\x1f\x7f\x7f'),
  digit: ranges('09'),
  graph: ranges('!~'),
  lower: ranges('az'),
  print: ranges(' ~'),
  punct: ranges('!/:@[`{~'),
  space: ranges('  \t\r'),
  upper: ranges('AZ'),
  xdigit: ranges('09AFaf'),
};

/** Pairs of first and last. */
function ranges(ends: string): [number, number][] {
  return Array.from({ length: ends.length / 2 }, (_, n) => [
    ends.charCodeAt(2 * n),
    ends.charCodeAt(2 * n + 1),
  ]);
}

/** What stands between `[` and `]`; a `]` right at the beginning is a member. Undefined where it is never closed. */
function parseClass(name: string, start: number): { set: CharSet; end: number } | undefined {
  const members: [number, number][] = [];
  let at = start + 1;
  const isNegated = name[at] === '!' || name[at] === '^';
  if (isNegated) at += 1;
  for (let isFirst = true; at < name.length && (isFirst || name[at] !== ']'); isFirst = false) {
    if (name.startsWith('[:', at)) {
      const close = name.indexOf(']', at + 2);
      if (close === -1) return undefined;
      if (name[close - 1] === ':' && close - 1 >= at + 2) {
        const known = CLASSES[name.slice(at + 2, close - 1)];
        if (!known) return undefined;
        members.push(...(known as [number, number][]));
        at = close + 1;
        continue;
      }
    }
    const from = charAt(name, at);
    at = from.next;
    let to = from.code;
    if (name[at] === '-' && at + 1 < name.length && name[at + 1] !== ']') {
      const last = charAt(name, at + 1);
      to = last.code;
      at = last.next;
    }
    members.push([from.code, Math.max(from.code, to)]); // git takes the first of a range that runs backwards
  }
  return at < name.length ? { set: { ranges: members, isNegated }, end: at } : undefined;
}

function charAt(name: string, at: number): { code: number; next: number } {
  const from = name[at] === '\\' ? at + 1 : at;
  return { code: name.charCodeAt(from), next: from + 1 };
}
