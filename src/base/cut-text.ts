/** Shortens texts for people and models: never within a character, and never without a mark that something is missing. */

/** At most so many characters, the mark included. */
export function cutText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** Says how much is missing, beside what is kept. */
export function cutAndCount(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax).toWellFormed()}… (${text.length - charsMax} more characters)`;
}
