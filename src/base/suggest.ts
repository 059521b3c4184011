/** Finds the word a person meant; it never guesses wildly. */

const WORD_CHARS_MAX = 64;
const CANDIDATES_MAX = 20_000;

/** What other tools call something, and what it is called here. */
export type Synonyms = Readonly<Record<string, string>>;

/** The candidate that other tools call `word`, else the nearest one, if it is near enough to be a slip of the keyboard. */
export function suggest(
  word: string,
  candidates: Iterable<string>,
  synonyms: Synonyms = {},
): string | undefined {
  if (word.length > WORD_CHARS_MAX) return undefined;
  const wanted = word.toLowerCase();
  if (Object.hasOwn(synonyms, wanted)) {
    const meant = synonyms[wanted]!;
    for (const candidate of candidates) if (candidate === meant) return meant;
  }
  let best: string | undefined;
  let bestDistance = Math.floor(word.length / 3) + 1; // a word of one or two letters resembles too many
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > CANDIDATES_MAX) break;
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `; did you mean "x"?`, or nothing: the end of a message about an unknown name. */
export function didYouMean(word: string, candidates: Iterable<string>, synonyms?: Synonyms): string {
  const near = suggest(word, candidates, synonyms);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
