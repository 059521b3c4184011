/**
 * Globs over paths of the repository: what they match, and what two of them could both match. Pure: it never looks
 * at a disk.
 *
 * Matching is our own and in O(glob × path): a regular expression takes exponential time for some globs, and
 * paths come from agents.
 */
import {
  ANY_NAME,
  DEEP,
  parseGlob,
  STAR,
  type CharSet,
  type Glob,
  type Name,
  type Segment,
  type GlobToken,
} from './glob-syntax.ts';

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
    return others.some((pattern) => matches(pattern, names, DEEP, accepts));
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
    return trees.some((tree) => matches(tree, names, DEEP, accepts));
  };
}

/** For texts that are no paths: `*` is any text, all else is itself. */
export function matchesStars(pattern: string, text: string): boolean {
  return matches<string, string>([...pattern], [...text], '*', (part, char) => part === char);
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
      if (fixed.length === pattern.length) return matches(candidate, fixed, DEEP, accepts);
      const start = literalsOf(candidate);
      const isTree = start.length === candidate.length - 2 && isAllBelow(candidate.slice(-2));
      return isTree && start.every((name, n) => name === fixed[n]);
    });
  });
}

/**
 * What `allowed` gives of `globs`, if it gives all of them. A plain path could be a directory: where only the path
 * itself is allowed and not what may be below it, the glob that allows it is given in its place.
 */
export function narrow(
  allowed: readonly string[],
  globs: readonly Glob[],
): { granted: string[]; beyond?: undefined } | { granted?: undefined; beyond: string } {
  const outer = allowed.map(parseGlob);
  const granted: string[] = [];
  for (const glob of globs) {
    const isWhole = glob.patterns.every((pattern) =>
      outer.some((one) => covers(one, { text: glob.text, patterns: [pattern] })),
    );
    const named = isWhole ? glob : outer.find((one) => covers(one, glob));
    if (!named) return { beyond: glob.text };
    granted.push(named.text);
  }
  return { granted };
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

const accepts = (segment: Segment, name: string): boolean => acceptsName(segment, name);

/** For other ways to write globs. `onStep` hears what each comparison costs, and ends them where it says no. */
export function matchesNames(
  pattern: readonly Segment[],
  names: readonly string[],
  onStep: (cost: number) => boolean,
): boolean {
  return matches(pattern, names, DEEP, (segment, name) => onStep(1) && acceptsName(segment, name, onStep));
}

function acceptsName(segment: Segment, name: string, onStep?: (cost: number) => boolean): boolean {
  if (segment === DEEP) return false;
  if (segment.literal !== undefined) return segment.literal === name;
  return matches(
    segment.tokens,
    name,
    STAR,
    (token, char) =>
      token !== STAR && (onStep?.(1 + token.ranges.length) ?? true) && has(token, char.charCodeAt(0)),
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
  const chars = meet<GlobToken, CharSet, string>(a.tokens, b.tokens, STAR, commonChar, (set) =>
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
