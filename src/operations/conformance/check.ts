/** What a check is: one or a few runs of the agent, and what they say about rows of the table. Types only. */
import type { RuntimeName } from '../../contract/workflow.ts';
import type { Bench } from './bench.ts';
import type { Holds, RowName, Verdict } from './verdict.ts';

export interface Check {
  rows: RowName[];
  /** Runtimes that have no such thing, with the reason. */
  cannot?: Partial<Record<RuntimeName, string>>;
  run(bench: Bench): Promise<Verdict[]>;
}

export function verdict(row: RowName, holds: Holds, fact: string): Verdict {
  return { row, holds, fact };
}
