/** What a check is: one or a few runs of the agent, and what they say about rows of the table. Types only. */
import type { RuntimeDescriptor } from '../../runtime/descriptor.ts';
import type { Bench } from './bench.ts';
import type { Holds, RowName, Verdict } from './verdict.ts';

export interface ConformanceCheck {
  rows: RowName[];
  /** Why a runtime has no such thing; undefined where it has. */
  cannot?(runtime: RuntimeDescriptor): string | undefined;
  run(bench: Bench): Promise<Verdict[]>;
}

export function verdict(row: RowName, holds: Holds, fact: string): Verdict {
  return { row, holds, fact };
}
