/** What a task printed, as its log shows it. Types only. */

/** What was printed at one moment; it may end in the middle of a line. */
export interface OutputEntry {
  seq: number;
  atMs: number;
  attempt: number;
  stream: 'stdout' | 'stderr' | 'check' | 'setup';
  text: string;
  /** Bytes that the engine had to drop after it. */
  droppedBytes?: number;
}

export interface Output {
  /** The oldest first. It only grows: whoever reads it goes on where they were. */
  entries: readonly OutputEntry[];
  /** How many there are; another value where some were added. */
  count: number;
  /** Whether what was there before has all been read. */
  isComplete: boolean;
  /** What went wrong; it is tried again by itself. */
  problem?: string;
}
