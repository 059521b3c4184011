/**
 * Reads a patch piece by piece, however large it is: keeps its beginning, and counts files and lines of all of it. A
 * line of any length costs no more than its first characters.
 */
import { HISTORY_LIMITS } from '../../schedule/history/limits.ts';

/** More than a report shows of one task, whatever its characters are made of. */
const KEPT_BYTES_MAX = 1024 * 1024;
const HEAD_CHARS_MAX = 200;
/** Room for how much is missing of a line. */
const WORDS_CHARS_MAX = 40;
const LINE_FEED = 0x0a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

export interface Patch {
  /** Whole lines. */
  text: string;
  /** Of all of it. */
  lines: number;
  files: number;
  linesAdded: number;
  linesRemoved: number;
}

export class PatchReader {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  /** What is missing of the last line that is kept, and whether its end has come. */
  #cutBytes = 0;
  #isCutAtEnd = false;
  /** The beginning of the line whose end has not come yet. */
  #head = '';
  #lines = 0;
  #files = 0;
  #added = 0;
  #removed = 0;
  // A hunk says how many lines it has; within it a line that looks like a header is a line of the file.
  #beforeLeft = 0;
  #afterLeft = 0;

  add(piece: Buffer): void {
    const kept = piece.subarray(0, KEPT_BYTES_MAX - this.#keptBytes);
    if (kept.length > 0) this.#kept.push(Buffer.from(kept));
    this.#keptBytes += kept.length;
    if (kept.length < piece.length && !this.#isCutAtEnd) {
      const end = piece.indexOf(LINE_FEED, kept.length);
      this.#cutBytes += (end === -1 ? piece.length : end) - kept.length;
      this.#isCutAtEnd = end !== -1;
    }
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
      this.#endLine(piece, from, at);
      from = at + 1;
    }
    this.#head += textOf(piece, from, piece.length, HEAD_CHARS_MAX - this.#head.length);
  }

  /** To be asked once, when no more comes. */
  end(): Patch {
    if (this.#head !== '') this.#endLine(Buffer.alloc(0), 0, 0);
    return {
      text: this.#text(),
      lines: this.#lines,
      files: this.#files,
      linesAdded: this.#added,
      linesRemoved: this.#removed,
    };
  }

  /** What is left of a last line is kept where it is long enough to be cut in any case. */
  #text(): string {
    const text = Buffer.concat(this.#kept).toString();
    if (this.#cutBytes === 0 && this.#keptBytes < KEPT_BYTES_MAX) return text;
    const at = text.lastIndexOf('\n') + 1;
    if (text.length - at <= HISTORY_LIMITS.lineChars) return text.slice(0, at);
    const end = at + HISTORY_LIMITS.lineChars - WORDS_CHARS_MAX;
    return `${text.slice(0, end)}… (${text.length - end + this.#cutBytes} more characters)\n`;
  }

  #endLine(piece: Buffer, from: number, end: number): void {
    this.#lines += 1;
    if (this.#beforeLeft > 0 || this.#afterLeft > 0) {
      this.#inHunk(this.#head === '' ? (from < end ? piece[from]! : 0) : this.#head.charCodeAt(0));
      this.#head = '';
      return;
    }
    const line = this.#head + textOf(piece, from, end, HEAD_CHARS_MAX - this.#head.length);
    this.#head = '';
    if (line.startsWith('diff --git ')) this.#files += 1;
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (!hunk) return;
    this.#beforeLeft = Number(hunk[1] ?? 1);
    this.#afterLeft = Number(hunk[2] ?? 1);
  }

  #inHunk(sign: number): void {
    if (sign === BACKSLASH) return;
    if (sign === PLUS) this.#added += 1;
    if (sign === MINUS) this.#removed += 1;
    if (sign !== PLUS) this.#beforeLeft -= 1;
    if (sign !== MINUS) this.#afterLeft -= 1;
  }
}

function textOf(piece: Buffer, from: number, end: number, charsMax: number): string {
  return piece.toString('latin1', from, Math.min(end, from + Math.max(0, charsMax)));
}
