/** What conformance finds out: rows of a table. Types, and the words that every door uses for them. */
import type { RuntimeName } from '../../contract/workflow.ts';

/** `cannot`: the runtime has no such thing, and nobody expects it; `untried`: there was no time left. */
export type Holds = 'yes' | 'partly' | 'no' | 'cannot' | 'untried';

/** Each, with what it says of an agent where it holds. In the order of the table. */
export const ROWS = {
  write: 'its work is on the branch',
  output: 'gives output that fits a JSON Schema',
  usage: 'claims what the gateway metered',
  cancel: 'ends soon when it is cancelled',
  orphans: 'leaves no process behind',
  resume: 'continues its conversation after a kill',
  fork: 'a retry knows the conversation, in one of its own',
  steer: 'hears what people say meanwhile',
  ask: 'asks a person',
  turns: 'ends at its limit of turns',
  mcp: 'uses a tool server',
  instructions: "reads the repository's own instructions",
  settings: "a repository's own settings are harmless",
  'http-401': 'fails for its key, soon',
  'http-429': 'waits as long as the provider says',
  'http-500': 'survives failures of the provider',
  hang: 'survives a silent provider',
  cut: 'survives an answer that breaks off',
  garbage: 'survives a malformed response',
  huge: 'survives a flood of output',
  context: 'goes on when its conversation outgrows its model',
  ends: 'never hangs',
} as const;

export type RowName = keyof typeof ROWS;

/** What must hold for whatever bosun runs. */
export const MUST: ReadonlySet<RowName> = new Set(['write', 'cancel', 'orphans', 'http-401', 'ends']);

export interface Verdict {
  row: RowName;
  holds: Holds;
  /** Short: a time, a kind of error. */
  fact: string;
}

export interface VerdictRow extends Verdict {
  about: string;
  must: boolean;
}

export interface ConformanceReport {
  runtime: RuntimeName;
  /** What was started, where the runtime does not say itself. */
  command?: string;
  version?: string;
  /** Of bosun. */
  bosun: string;
  platform: string;
  /** Such as 2026-11-16. */
  date: string;
  tookMs: number;
  isolation: string;
  rows: VerdictRow[];
}

/** Whether all holds that must. */
export function isConforming({ rows }: ConformanceReport): boolean {
  return rows.every(({ must, holds }) => !must || holds === 'yes');
}
