/** What differs between two lists of lines, in few lines for people. */

const LINES_MAX = 20;
const CHARS_MAX = 160;
/** More is compared from both ends only: finding the best way through takes their product. */
const MIDDLE_MAX = 1500;

/** How many lines one has and the other has not. */
export function distance(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) - 1);
  let sum = 0;
  for (const count of counts.values()) sum += Math.abs(count);
  return sum;
}

/** `-` stands before what only the first has, `+` before what only the second has. */
export function difference(a: readonly string[], b: readonly string[]): string[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const all = changes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const shown = all
    .slice(0, LINES_MAX)
    .map(({ sign, line, other }) => `${sign} ${excerpt(line, other ?? '')}`);
  return all.length > LINES_MAX ? [...shown, `… and ${all.length - LINES_MAX} more lines`] : shown;
}

interface Change {
  sign: '-' | '+';
  line: string;
  /** What stands there on the other side. */
  other: string | undefined;
}

function changes(a: string[], b: string[]): Change[] {
  const [onlyA, onlyB] = a.length > MIDDLE_MAX || b.length > MIDDLE_MAX ? [a, b] : withoutCommon(a, b);
  const pairs = Array.from({ length: Math.max(onlyA.length, onlyB.length) }, (_, n) => [onlyA[n], onlyB[n]]);
  return pairs.flatMap(([was, is]): Change[] => [
    ...(was === undefined ? [] : [{ sign: '-' as const, line: was, other: is }]),
    ...(is === undefined ? [] : [{ sign: '+' as const, line: is, other: was }]),
  ]);
}

/** What is left of each without their longest common lines. */
function withoutCommon(a: string[], b: string[]): [string[], string[]] {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  const [onlyA, onlyB]: [string[], string[]] = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) [i, j] = [i + 1, j + 1];
    else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!))
      onlyA.push(a[i++]!);
    else onlyB.push(b[j++]!);
  }
  return [onlyA, onlyB];
}

/** The beginning, which says where it is, and the part that differs. */
function excerpt(line: string, other: string): string {
  if (line.length <= CHARS_MAX) return line;
  let at = 0;
  while (at < line.length && line[at] === other[at]) at++;
  if (at < CHARS_MAX / 2) return `${line.slice(0, CHARS_MAX)}…`;
  const from = Math.min(at - 20, line.length - CHARS_MAX / 2);
  const rest = line.slice(from, from + CHARS_MAX / 2);
  return `${line.slice(0, CHARS_MAX / 2)} … ${rest}${from + rest.length < line.length ? '…' : ''}`;
}
