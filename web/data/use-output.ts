/** What a task printed and what its agent said and did, as it comes. */
import type { AgentEvent } from '../../src/contract/model.ts';

/** What was printed or said at one moment; what a program prints may end in the middle of a line. @public */
export interface OutputEntry {
  seq: number;
  atMs: number;
  attempt: number;
  /** `agent` has `event`; the others, what programs printed, have `text`. */
  stream: 'stdout' | 'stderr' | 'check' | 'setup' | 'agent';
  text?: string;
  /** Bytes that the engine had to drop after it. */
  droppedBytes?: number;
  event?: AgentEvent;
}

export interface Output {
  /** The oldest first. It grows; the same array for as long as nothing was added. */
  entries: readonly OutputEntry[];
  /** Whether what was there before has all been read. */
  isComplete: boolean;
  problem?: string;
}

const NOTHING: Output = { entries: [], isComplete: false };

/** The whole task, all of its attempts; also what came after the moment that the page is wound to. */
export function useOutput(_repository: string, _run: string, _task: string): Output {
  return NOTHING;
}
