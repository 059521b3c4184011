/** How much of a run a report holds, and how a total is shared out fairly. Knows nothing of what it bounds. */
import { HISTORY_LIMITS as KEPT } from '../schedule/history/limits.ts';
import { cutAndCount } from '../base/cut-text.ts';

/** Beside what a history keeps. */
export const REPORT_LIMITS = {
  diffCharsPerTask: 256_000,
  diffCharsInAll: 6_000_000,
  logLinesPerTask: 60,
  logCharsPerTask: 16_000,
  logCharsInAll: 4_000_000,
  changedFilesInAll: 50_000,
} as const;

/** The part of `total` each may have: the small ones get all they ask for, the large ones equal parts. */
export function shareOut(asked: number[], total: number, each: number): number[] {
  const shares = asked.map((size) => Math.min(size, each));
  const order = shares.map((_, index) => index).sort((a, b) => shares[a]! - shares[b]!);
  let left = total;
  order.forEach((index, place) => {
    const share = Math.min(shares[index]!, Math.floor(left / (order.length - place)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}

/** Rows of at most `lineChars`, cut at the end of a line. */
export function clipLines(lines: string[], charsMax: number): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines) {
    const text = cutAndCount(line, KEPT.lineChars);
    chars += text.length + 1;
    if (chars > charsMax) break;
    kept.push(text);
  }
  return kept;
}
