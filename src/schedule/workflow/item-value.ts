/** A value that is filled into a glob names files, and never widens it. Pure; the page needs it, too. */
const WILDCARDS = /[*?[\]{}()!\\]/g;

/** As a part of a glob: it matches itself alone. */
export function escapeWildcards(text: string): string {
  return text.replaceAll(WILDCARDS, (char) => `\\${char}`);
}

export function itemValueProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'holds a control character';
  // Each of these would take a directory away, or lead out.
  if (text.split('/').some((name) => ['', '.', '..'].includes(name)))
    return 'is not the name of a file or directory, nor a path to one';
  return undefined;
}
