/** What the runner writes, a line of JSON each, and the tests read. */
import type { Ended } from './unfenced.ts';

export interface Tried extends Ended {
  /** What shows that it worked; undefined where it did not. */
  evidence?: string;
  /** What it changed of the world, besides what its scope names. */
  changed: string[];
}

/** How an attack was let loose: without a fence, inside one, inside one that our native launcher had no part in. */
export type Way = 'unfenced' | 'fenced' | 'fencedByUtilLinux';

export type Result = { program: string } & Partial<Record<Way, Tried>>;

/** Stands in the place of a program when all were run. */
export const END = 'end';
