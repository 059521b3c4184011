/** How much is remembered of what happened in a run: enough for a report, however long the run is. */

export const LIMITS = {
  lineChars: 2_000,
  messageChars: 4_000,
  changedFilesPerAttempt: 500,
  outputChars: 64_000,
  outputCharsInAll: 6_000_000,
  listEntries: 1_000,
  deniedPerTask: 100,
} as const;

export function clip(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax).toWellFormed()}… (${text.length - charsMax} more characters)`;
}
