/** What a person says of lines of a diff, and how it is told to an agent. Pure. */

export interface Comment {
  /** The line: its file, and where in that. */
  key: string;
  path: string;
  line: number;
  /** Before the change; else after it. */
  isBefore: boolean;
  attempt: number;
  quote: string;
  text: string;
  /** `kept` until the next attempt is told. */
  state: 'kept' | 'sending' | 'sent';
}

const QUOTE_CHARS_MAX = 400;

/** `src/cart.ts:42`, the line, and what is said of it. */
export function tellComment({ path, line, isBefore, quote, text }: Comment): string {
  const place = `${path}:${line}${isBefore ? ' (removed)' : ''}`;
  return `${place}\n> ${quote.slice(0, QUOTE_CHARS_MAX)}\n${text}`;
}

/** For an attempt that begins anew: it does not have what the last one left. */
export function tellComments(comments: readonly Comment[], more: string): string {
  const attempt = comments[0]?.attempt;
  const lead =
    attempt === undefined
      ? []
      : [
          `A person read what attempt ${attempt} had changed, which is not in these files any more, and said:`,
        ];
  return [...lead, ...comments.map(tellComment), ...(more === '' ? [] : [more])].join('\n\n');
}
