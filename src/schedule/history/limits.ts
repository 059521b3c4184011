/** How much is remembered of what happened in a run: enough for a report, however long the run is. */

export const HISTORY_LIMITS = {
  lineChars: 2_000,
  messageChars: 4_000,
  changedFilesPerAttempt: 500,
  outputChars: 64_000,
  outputCharsInAll: 6_000_000,
  listEntries: 1_000,
  deniedPerTask: 100,
} as const;
