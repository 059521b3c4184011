/**
 * Globs over paths of the repository: which are allowed, what they match, what two of them could both match.
 * Pure: it never looks at a disk.
 *
 * `src/**` is all that is below src, `docs/*.md` the files of that one directory, `CHANGELOG.md` that file, and
 * `src` or `src/` the directory with all that is in it. `*` and `?` match dots too, never a `/`; `[a-z]`, `[!a]`
 * and `{a,b}` are as in a shell; `\` makes the wildcard after it an ordinary character.
 *
 * Matching is our own and in O(glob × path): a regular expression takes exponential time for some globs, and
 * paths come from agents.
 */

const GLOB_CHARS_MAX = 1000;
const EXPANSIONS_MAX = 100;
const SPECIAL = '*?[]{}()!\\';

/** What one character may be; `isNegated` for all but these. */
interface CharSet {
  ranges: readonly (readonly [from: number, to: number])[];
  isNegated: boolean;
}
const STAR = 'star';
type Token = typeof STAR | CharSet;

/** `**`: any number of directories, none included. */
const DEEP = 'deep';
interface Name {
  tokens: readonly Token[];
  /** Where there is no wildcard in it. */
  literal: string | undefined;
}
type Segment = typeof DEEP | Name;
const ANY_NAME: Name = { tokens: [STAR], literal: undefined };

/** A path matches where it matches one of these. */
export interface Glob {
  text: string;
  patterns: readonly (readonly Segment[])[];
}

class GlobProblem extends Error {}

/** The glob as it is kept, or what is wrong with it, to be put after the glob itself. */
export function normalizeGlob(glob: string): { glob: string } | { problem: string } {
  const text = tidy(glob);
  try {
    parse(glob, text);
  } catch (error) {
    if (error instanceof GlobProblem) return { problem: error.message };
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
    throw error instanceof GlobProblem ? new TypeError(`not a glob: "${glob}" ${error.message}`) : error;
  }
}

/** Paths are relative to the repository, with `/` between names. */
export function compileGlobs(globs: readonly string[]): (path: string) => boolean {
  const exact = new Set<string>();
  const below = new Set<string>();
  const others: (readonly Segment[])[] = [];
  for (const pattern of globs.flatMap((glob) => parseGlob(glob).patterns)) {
    const fixed = literalsOf(pattern);
    if (fixed.length === pattern.length) exact.add(fixed.join('/'));
    else if (fixed.length === pattern.length - 2 && isAllBelow(pattern.slice(-2))) below.add(fixed.join('/'));
    else others.push(pattern);
  }
  return (path) => {
    if (exact.has(path) || below.has('')) return true;
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      if (below.has(path.slice(0, at))) return true;
    }
    if (others.length === 0) return false;
    const names = path.split('/');
    return others.some((pattern) => matches(pattern, names, DEEP, acceptsName));
  };
}

/** Tells of a directory whether one of the globs matches all that could ever be below it. */
export function compileTrees(globs: readonly string[]): (directory: string) => boolean {
  const trees = globs
    .flatMap((glob) => parseGlob(glob).patterns)
    .filter((pattern) => isAllBelow(pattern.slice(-2)))
    .map((pattern) => pattern.slice(0, -1));
  return (directory) => {
    const names = directory.split('/');
    return trees.some((tree) => matches(tree, names, DEEP, acceptsName));
  };
}

/** A path that both match; undefined where there is none. */
export function globsOverlap(a: string, b: string): string | undefined {
  return overlapOf(parseGlob(a), parseGlob(b));
}

export function overlapOf(a: Glob, b: Glob): string | undefined {
  for (const one of a.patterns) {
    for (const other of b.patterns) {
      const names = meet<Segment, Name, string>(one, other, DEEP, commonName, (name) =>
        commonName(name, name)!,
      );
      if (names) return names.join('/');
    }
  }
  return undefined;
}

/** Whether `outer` matches all that `inner` does; a "no" may be wrong where both have wildcards. */
export function covers(outer: Glob, inner: Glob): boolean {
  if (outer.text === inner.text) return true;
  return inner.patterns.every((pattern, n) => {
    // A plain path may be a directory; what counts is that it is named.
    if (isBelow(inner.patterns[n - 1], pattern)) return true;
    const fixed = literalsOf(pattern);
    return outer.patterns.some((candidate) => {
      if (fixed.length === pattern.length) return matches(candidate, fixed, DEEP, acceptsName);
      const start = literalsOf(candidate);
      const isTree = start.length === candidate.length - 2 && isAllBelow(candidate.slice(-2));
      return isTree && start.every((name, n) => name === fixed[n]);
    });
  });
}

/** Whether a pattern is there only because the plain path before it may be a directory. */
function isBelow(plain: readonly Segment[] | undefined, pattern: readonly Segment[]): boolean {
  if (!plain || literalsOf(plain).length < plain.length || pattern.length !== plain.length + 2) return false;
  return plain.every((segment, n) => segment === pattern[n]);
}

/** The directories that all matching paths have in common, as names; of a plain path, all of it. */
export function fixedNames(glob: Glob): string[] {
  const [first, ...rest] = glob.patterns.map(literalsOf);
  const differs = first!.findIndex((name, n) => rest.some((names) => names[n] !== name));
  return differs === -1 ? first! : first!.slice(0, differs);
}

/** Where matching files lie: a directory, and whether in all below it or in itself alone; or a plain path. */
export function placesOf(glob: Glob): { path: string; kind: 'deep' | 'flat' | 'plain' }[] {
  const [first] = glob.patterns;
  const plain = literalsOf(first!);
  if (
    glob.patterns.length === 2 &&
    plain.length === first!.length &&
    plain.length === fixedNames(glob).length
  )
    return [{ path: plain.join('/'), kind: 'plain' }];
  return glob.patterns.map((pattern) => {
    const fixed = literalsOf(pattern);
    if (fixed.length === pattern.length) return { path: fixed.join('/'), kind: 'plain' };
    return { path: fixed.join('/'), kind: fixed.length === pattern.length - 1 ? 'flat' : 'deep' };
  });
}

/** The names before the first wildcard, for each choice of its braces. */
export function literalStarts(glob: Glob): string[][] {
  return glob.patterns.map(literalsOf);
}

/** `.git`, and what git takes for it on other file systems. */
export function isDotGit(name: string): boolean {
  return /^(\.git|git~1)[ .]*(:.*)?$/is.test(
    name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ''),
  );
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
  const fail = (message: string): never => {
    throw new GlobProblem(message);
  };
  if (glob === '') fail('is empty; write "**" for all files');
  if (glob.length > GLOB_CHARS_MAX) fail(`is longer than ${GLOB_CHARS_MAX} characters; shorten it`);
  if (glob.includes('\0')) fail('holds a NUL, which no path can');
  if (glob.startsWith('!')) fail('begins with "!"; globs only add, so name what is meant instead');
  if (/(^|[^\\])[?*+@!]\(/.test(glob)) fail('holds an extended glob such as +(a|b); write {a,b}');
  return expand(text).flatMap((plain) => {
    if (/^(\/|~\/|~$|[a-z]:[\\/])/i.test(plain))
      fail('is an absolute path; write it relative to the top of the repository');
    if (plain === '') fail('has an empty choice in its braces, which would be all files; remove it');
    const names = plain.split('/').filter((name) => name !== '' && name !== '.');
    if (names.includes('..')) fail('holds "..", which leads out; write it from the top of the repository');
    const segments = names.map((name): Segment => (name === '**' ? DEEP : parseName(name)));
    if (segments.some((segment) => segment !== DEEP && isDotGit(segment.literal ?? '')))
      fail('lies in .git, which belongs to git and is never collected; remove it');
    if (segments.length === 0 || plain.endsWith('/')) segments.push(DEEP);
    if (segments.at(-1) === DEEP) return [[...segments, ANY_NAME]];
    const isPlain = segments.every((segment) => segment !== DEEP && segment.literal !== undefined);
    return isPlain ? [segments, [...segments, DEEP, ANY_NAME]] : [segments];
  });
}

function parseName(name: string): Name {
  const tokens: Token[] = [];
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
      if (end === -1) throw new GlobProblem('has a "[" that is never closed; write "\\[" for the character');
      tokens.push(parseClass(name.slice(at + 1, end)));
      literal = undefined;
      at = end;
    } else {
      if (char === '\\' && !(at + 1 < name.length && SPECIAL.includes(name[++at]!)))
        throw new GlobProblem('holds a "\\"; write "/" between directories');
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
  if (/\[[:.=]/.test(members) || members.includes('\\'))
    throw new GlobProblem('has a class such as [:alpha:] or a "\\" inside [ ]; write ranges such as [a-z]');
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members.charCodeAt(at);
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    const to = isRange ? members.charCodeAt((at += 2)) : from;
    if (to < from) throw new GlobProblem('has a range inside [ ] that runs backwards; swap its ends');
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
        throw new GlobProblem('has a range such as {1..3}; write {1,2,3}');
      const before = text.slice(0, at);
      if (end === -1 || commas.length === 0)
        return expand(text.slice(at + 1)).map((rest) => `${before}\\{${rest}`);
      const edges = [at, ...commas, end];
      const choices = edges.slice(1).flatMap((edge, n) => expand(text.slice(edges[n]! + 1, edge)));
      const tails = expand(text.slice(end + 1));
      if (choices.length * tails.length > EXPANSIONS_MAX)
        throw new GlobProblem(`stands for more than ${EXPANSIONS_MAX} globs with its braces; shorten it`);
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

function literalsOf(pattern: readonly Segment[]): string[] {
  const names: string[] = [];
  for (const segment of pattern) {
    if (segment === DEEP || segment.literal === undefined) break;
    names.push(segment.literal);
  }
  return names;
}

function isAllBelow([first, second]: readonly Segment[]): boolean {
  return first === DEEP && second === ANY_NAME;
}

function acceptsName(segment: Segment, name: string): boolean {
  if (segment === DEEP) return false;
  if (segment.literal !== undefined) return segment.literal === name;
  return matches(
    segment.tokens,
    name,
    STAR,
    (token, char) => token !== STAR && has(token, char.charCodeAt(0)),
  );
}

function has({ ranges, isNegated }: CharSet, code: number): boolean {
  return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated;
}

/** Goes back to the last star only: what lies before it has matched as early as it can. */
function matches<P, I>(
  pattern: readonly P[],
  input: ArrayLike<I>,
  star: P,
  accepts: (part: P, item: I) => boolean,
): boolean {
  let [p, i, starAt, resumeAt] = [0, 0, -1, 0];
  while (i < input.length) {
    if (p < pattern.length && pattern[p] === star) {
      starAt = p++;
      resumeAt = i;
    } else if (p < pattern.length && accepts(pattern[p]!, input[i]!)) {
      p++;
      i++;
    } else if (starAt === -1) return false;
    else {
      p = starAt + 1;
      i = ++resumeAt;
    }
  }
  while (p < pattern.length && pattern[p] === star) p++;
  return p === pattern.length;
}

/** What both patterns accept, item by item: a table of which ends can meet, then a walk along it. */
function meet<P, S extends P, X>(
  a: readonly P[],
  b: readonly P[],
  star: P,
  both: (x: S, y: S) => X | undefined,
  alone: (x: S) => X,
): X[] | undefined {
  const width = b.length + 1;
  const canEnd = new Uint8Array((a.length + 1) * width);
  const common = new Map<number, X>();
  for (let i = a.length; i >= 0; i--) {
    for (let j = b.length; j >= 0; j--) {
      const at = i * width + j;
      if (i === a.length && j === b.length) canEnd[at] = 1;
      else if (a[i] === star || b[j] === star)
        canEnd[at] =
          (i < a.length && canEnd[at + width] === 1) || (j < b.length && canEnd[at + 1] === 1) ? 1 : 0;
      else if (i < a.length && j < b.length && canEnd[at + width + 1]) {
        const found = both(a[i] as S, b[j] as S);
        if (found === undefined) continue;
        common.set(at, found);
        canEnd[at] = 1;
      }
    }
  }
  if (!canEnd[0]) return undefined;
  const items: X[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const at = i * width + j;
    if (a[i] !== star && b[j] !== star) {
      items.push(common.get(at)!);
      i++;
      j++;
    } else if (i < a.length && canEnd[at + width]) {
      if (a[i] !== star) items.push(alone(a[i] as S));
      i++;
    } else {
      if (b[j] !== star) items.push(alone(b[j] as S));
      j++;
    }
  }
  return items;
}

function commonName(a: Segment, b: Segment): string | undefined {
  if (a === DEEP || b === DEEP) return undefined;
  if (a.literal !== undefined && b.literal !== undefined)
    return a.literal === b.literal ? a.literal : undefined;
  const chars = meet<Token, CharSet, string>(a.tokens, b.tokens, STAR, commonChar, (set) =>
    commonChar(set, set)!,
  );
  // No name is empty; and ".md" is a poor example of "*.md".
  return chars && (a.tokens[0] === STAR && b.tokens[0] === STAR ? 'x' : '') + chars.join('');
}

/** If there is such a character, one is ordinary or begins where a range begins or has ended. */
function commonChar(a: CharSet, b: CharSet): string | undefined {
  const edges = [...a.ranges, ...b.ranges].flatMap(([from, to]) => [from, to + 1]);
  const code = [0x78, ...edges, 1, 0x30].find(
    (c) => c !== 0 && c !== 0x2f && c <= 0xffff && has(a, c) && has(b, c),
  );
  return code === undefined ? undefined : String.fromCharCode(code);
}
