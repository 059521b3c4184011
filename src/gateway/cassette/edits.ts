/** Changes to a text as values, so that they can be made in a text that came in fragments. Never says what to change. */

export interface TextEdit {
  start: number;
  end: number;
  /** What stands there instead. */
  by: string;
}

/** Finds what is to change in a text. */
export type Editor = (text: string) => TextEdit[];

export function edited(text: string, edits: TextEdit[]): string {
  return editFragments([text], edits)[0]!;
}

/**
 * The fragments of a text after edits of the text as a whole. What stands instead goes where an edit begins; a fragment
 * may become empty, and their number stays the same.
 */
export function editFragments(fragments: string[], edits: TextEdit[]): string[] {
  const rest = disjoint(edits);
  let at = 0;
  let next = 0;
  return fragments.map((fragment) => {
    const end = at + fragment.length;
    let text = '';
    let from = at;
    while (next < rest.length && rest[next]!.start < end) {
      const edit = rest[next]!;
      if (edit.start >= at) text += fragment.slice(from - at, edit.start - at) + edit.by;
      from = Math.min(edit.end, end);
      if (edit.end > end) break; // it goes on in the next fragment
      next++;
    }
    text += fragment.slice(from - at);
    at = end;
    return text;
  });
}

/** Sorted; of those that overlap, the first one found counts. */
function disjoint(edits: TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || b.end - a.end))
    if (edit.start >= (kept.at(-1)?.end ?? 0)) kept.push(edit);
  return kept;
}

/** Everything that a pattern, which must be global, finds. */
export function editsOf(text: string, pattern: RegExp, by: string): TextEdit[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    by,
  }));
}

/** Everywhere that a word stands and does not go on. */
export function editsOfWord(text: string, word: string, by: string, goesOn?: RegExp): TextEdit[] {
  const edits: TextEdit[] = [];
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + 1)) {
    const end = start + word.length;
    if (goesOn === undefined || !goesOn.test(text.slice(end, end + 2))) edits.push({ start, end, by });
  }
  return edits;
}
