/** What a task printed, as it comes. What its agent said and did is in the events of the run. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { openOutput } from './output-store.ts';

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

/** The whole task, all of its attempts; also what came after the moment that the page is wound to. */
export function useOutput(repository: string, run: string, task: string): Output {
  const store = useMemo(() => openOutput(repository, run, task), [repository, run, task]);
  useEffect(() => store.hold(), [store]);
  return useSyncExternalStore(store.listen, store.now);
}
