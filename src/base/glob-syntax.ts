/**
 * What a glob may look like, and what it is made of. Pure.
 *
 * `src/**` is all that is below src, `docs/*.md` the files of that one directory, `CHANGELOG.md` that file, and
 * `src` or `src/` the directory with all that is in it. `*` and `?` match dots too, never a `/`; `[a-z]`, `[!a]`
 * and `{a,b}` are as in a shell; `\` makes the wildcard after it an ordinary character.
 */
import { isDotGit } from './dot-git.ts';
import { EXPANSIONS_MAX, GLOB_CHARS_MAX, GLOB_PROBLEMS } from './glob-problems.ts';

const SPECIAL = '*?[]{}()!\\';

/** What one character may be; `isNegated` for all but these. */
export interface CharSet {
  ranges: readonly (readonly [from: number, to: number])[];
  isNegated: boolean;
}
export const STAR = 'star';
export type GlobToken = typeof STAR | CharSet;

/** `**`: any number of directories, none included. */
export const DEEP = 'deep';
export interface Name {
  tokens: readonly GlobToken[];
  /** Where there is no wildcard in it. */
  literal: string | undefined;
}
export type Segment = typeof DEEP | Name;
export const ANY_NAME: Name = { tokens: [STAR], literal: undefined };

/** A path matches where it matches one of these. */
export interface Glob {
  text: string;
  patterns: readonly (readonly Segment[])[];
}

class GlobProblem extends Error {
  readonly what: keyof typeof GLOB_PROBLEMS;

  constructor(what: keyof typeof GLOB_PROBLEMS) {
    super(what);
    this.what = what;
  }
}

/** The glob as it is kept, or what is wrong with it, to be put after the glob itself. */
export function normalizeGlob(glob: string): { glob: string } | { problem: string } {
  const text = tidy(glob);
  try {
    parse(glob, text);
  } catch (error) {
    if (error instanceof GlobProblem) return { problem: GLOB_PROBLEMS[error.what] };
    throw error;
  }
  return { glob: text };
}

/** Of a glob that `normalizeGlob` has accepted. */
export function parseGlob(glob: string): Glob {
  const text = tidy(glob);
  try {
    return { text, patterns: parse(glob, text) };
  } catch (error) {
    throw error instanceof GlobProblem ? new TypeError(`not a glob: "${glob}" (${error.what})`) : error;
  }
}

function tidy(glob: string): string {
  const text = glob
    .replace(/\/(\.?\/)+/g, '/')
    .replace(/^(\.\/)+/, '')
    .replace(/\/\.$/, '/');
  if (text === '.' || text === '') return '**';
  return text.endsWith('/') ? `${text}**` : text;
}

function parse(glob: string, text: string): Segment[][] {
  const fail = (what: keyof typeof GLOB_PROBLEMS): never => {
    throw new GlobProblem(what);
  };
  if (glob === '') fail('empty');
  if (glob.length > GLOB_CHARS_MAX) fail('long');
  if (glob.includes('\0')) fail('nul');
  if (glob.startsWith('!')) fail('negated');
  if (/(^|[^\\])[?*+@!]\(/.test(glob)) fail('extended');
  return expand(text).flatMap((plain) => {
    if (/^(\/|~\/|~$|[a-z]:[\\/])/i.test(plain)) fail('absolute');
    if (plain === '') fail('choice');
    const names = plain.split('/').filter((name) => name !== '' && name !== '.');
    if (names.includes('..')) fail('up');
    const segments = names.map((name): Segment => (name === '**' ? DEEP : parseName(name)));
    if (segments.some((segment) => segment !== DEEP && isDotGit(segment.literal ?? ''))) fail('git');
    if (segments.length === 0 || plain.endsWith('/')) segments.push(DEEP);
    if (segments.at(-1) === DEEP) return [[...segments, ANY_NAME]];
    const isPlain = segments.every((segment) => segment !== DEEP && segment.literal !== undefined);
    return isPlain ? [segments, [...segments, DEEP, ANY_NAME]] : [segments];
  });
}

function parseName(name: string): Name {
  const tokens: GlobToken[] = [];
  let literal: string | undefined = '';
  for (let at = 0; at < name.length; at++) {
    const char = name[at]!;
    if (char === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
      literal = undefined;
    } else if (char === '?') {
      tokens.push({ ranges: [], isNegated: true });
      literal = undefined;
    } else if (char === '[') {
      const end = endOfClass(name, at);
      if (end === -1) throw new GlobProblem('open');
      tokens.push(parseClass(name.slice(at + 1, end)));
      literal = undefined;
      at = end;
    } else {
      if (char === '\\' && !(at + 1 < name.length && SPECIAL.includes(name[++at]!)))
        throw new GlobProblem('backslash');
      const code = name.charCodeAt(at);
      tokens.push({ ranges: [[code, code]], isNegated: false });
      if (literal !== undefined) literal += name[at]!;
    }
  }
  return { tokens, literal };
}

/** Where the `]` of the `[` at `start` is; one right at the beginning is a member. */
function endOfClass(text: string, start: number): number {
  let at = start + 1;
  if (text[at] === '!' || text[at] === '^') at++;
  for (at++; at < text.length && text[at] !== '/'; at++) {
    if (text[at] === ']') return at;
  }
  return -1;
}

function parseClass(inside: string): CharSet {
  const isNegated = /^[!^]/.test(inside);
  const members = isNegated ? inside.slice(1) : inside;
  if (/\[[:.=]/.test(members) || members.includes('\\')) throw new GlobProblem('class');
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members.charCodeAt(at);
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    const to = isRange ? members.charCodeAt((at += 2)) : from;
    if (to < from) throw new GlobProblem('backwards');
    ranges.push([from, to]);
  }
  return { ranges, isNegated };
}

/** `{a,b}c` → `ac`, `bc`. Braces without a comma are ordinary characters. */
function expand(text: string): string[] {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '[') at = Math.max(at, endOfClass(text, at));
    else if (text[at] === '{') {
      const { end, commas } = braceAt(text, at);
      const inside = text.slice(at + 1, end === -1 ? undefined : end);
      if (end !== -1 && commas.length === 0 && /^\w+\.\.\w+(\.\.\w+)?$/.test(inside))
        throw new GlobProblem('range');
      const before = text.slice(0, at);
      if (end === -1 || commas.length === 0)
        return expand(text.slice(at + 1)).map((rest) => `${before}\\{${rest}`);
      const edges = [at, ...commas, end];
      const choices = edges.slice(1).flatMap((edge, n) => expand(text.slice(edges[n]! + 1, edge)));
      const tails = expand(text.slice(end + 1));
      if (choices.length * tails.length > EXPANSIONS_MAX) throw new GlobProblem('many');
      return choices.flatMap((choice) => tails.map((tail) => before + choice + tail));
    }
  }
  return [text];
}

function braceAt(text: string, start: number): { end: number; commas: number[] } {
  const commas: number[] = [];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '[') at = Math.max(at, endOfClass(text, at));
    else if (text[at] === '{') depth++;
    else if (text[at] === ',' && depth === 1) commas.push(at);
    else if (text[at] === '}' && --depth === 0) return { end: at, commas };
  }
  return { end: -1, commas: [] };
}
